#pragma once

/* Shared by the parts of libeverseen_jni.so, the native methods of io.everseen.Native. Each has one exception pending when it
 * returns, or none. */
#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "everseen.h"

/* Throws the exception of a failure, with the message of the library's last call. verdicts: of a batch; may be null. */
void throw_status(JNIEnv* env, everseen_status status, jbyteArray verdicts);

/* The copy of an array of bytes that is a text and ends with a zero byte.    Returns null with OutOfMemoryError thrown. */
typedef struct {
  jbyteArray array;
  jbyte* bytes;
} text;

text text_of(JNIEnv* env, jbyteArray array);
void free_text(JNIEnv* env, text t);
static inline const char* chars(text t) { return (const char*)t.bytes; }

static inline everseen_filter* filter_at(jlong pointer) { return (everseen_filter*)(intptr_t)pointer; }
static inline everseen_job* job_at(jlong pointer) { return (everseen_job*)(intptr_t)pointer; }
static inline jlong pointer_to(const void* object) { return (jlong)(intptr_t)object; }

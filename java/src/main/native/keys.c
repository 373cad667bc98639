/* Batches of keys. Arrays of Java are copied before they are judged: the library may wait for a server, and other threads may
 * change them meanwhile. */
#include <stdio.h>
#include <stdlib.h>

#include "everseen_jni.h"
#include "io_everseen_Native.h"

/* What is beside the keys of a batch. */
typedef struct {
  jlongArray times_array;
  jbyteArray verdicts_array;
  jlong* times;
  size_t times_count;
  jbyte* verdicts;
} beside;

static void release(JNIEnv* env, beside* b) {
  if (b->verdicts) (*env)->ReleaseByteArrayElements(env, b->verdicts_array, b->verdicts, 0); /* copies them to the array */
  if (b->times) (*env)->ReleaseLongArrayElements(env, b->times_array, b->times, JNI_ABORT);
}

/* Before the keys are judged, so that no verdict is lost because there is no memory for it.    Returns false with
 * OutOfMemoryError thrown. */
static bool prepare(JNIEnv* env, jlongArray times, jbyteArray verdicts, beside* b) {
  *b = (beside){.times_array = times, .verdicts_array = verdicts};
  b->times_count = (size_t)(*env)->GetArrayLength(env, times);
  b->times = (*env)->GetLongArrayElements(env, times, NULL);
  if (b->times) b->verdicts = (*env)->GetByteArrayElements(env, verdicts, NULL);
  if (b->verdicts) return true;
  release(env, b);
  return false;
}

static void finish(JNIEnv* env, everseen_status status, beside* b) {
  release(env, b);
  if (status != EVERSEEN_OK) throw_status(env, status, b->verdicts_array);
}

static void throw_invalid(JNIEnv* env, const char* message) {
  const jclass type = (*env)->FindClass(env, "io/everseen/InvalidException");
  const jmethodID make =
      type ? (*env)->GetMethodID(env, type, "<init>", "(Ljava/lang/String;Lio/everseen/Verdicts;)V") : NULL;
  const jstring told = make ? (*env)->NewStringUTF(env, message) : NULL;
  const jobject error = told ? (*env)->NewObject(env, type, make, told, NULL) : NULL;
  if (error) (*env)->Throw(env, error);
}

/* Judges keys that are between offsets.    limit: the number of bytes. The library tests that the offsets ascend, so the last
 * one is the greatest, or the call is refused. */
static void judge_between(JNIEnv* env, everseen_filter* filter, const void* bytes, jint limit, jintArray offsets,
                          jboolean adds, jlongArray times, jbyteArray verdicts) {
  jint* const at = (*env)->GetIntArrayElements(env, offsets, NULL);
  if (!at) return;
  const size_t count = (size_t)(*env)->GetArrayLength(env, verdicts);
  beside b;
  if (at[count] > limit) {
    char message[100];
    snprintf(message, sizeof message, "the keys end at %d, but there are %d bytes", (int)at[count], (int)limit);
    throw_invalid(env, message);
  } else if (prepare(env, times, verdicts, &b)) {
    const everseen_status status =
        adds ? everseen_add_offsets32(filter, bytes, at, count, b.times, b.times_count, (uint8_t*)b.verdicts)
             : everseen_check_offsets32(filter, bytes, at, count, b.times, b.times_count, (uint8_t*)b.verdicts);
    finish(env, status, &b);
  }
  (*env)->ReleaseIntArrayElements(env, offsets, at, JNI_ABORT);
}

JNIEXPORT void JNICALL Java_io_everseen_Native_judgeArray(JNIEnv* env, jclass class, jlong filter, jbyteArray bytes,
                                                          jintArray offsets, jboolean adds, jlongArray times,
                                                          jbyteArray verdicts) {
  (void)class;
  jbyte* const copy = (*env)->GetByteArrayElements(env, bytes, NULL);
  if (!copy) return;
  judge_between(env, filter_at(filter), copy, (*env)->GetArrayLength(env, bytes), offsets, adds, times, verdicts);
  (*env)->ReleaseByteArrayElements(env, bytes, copy, JNI_ABORT);
}

JNIEXPORT void JNICALL Java_io_everseen_Native_judgeBuffer(JNIEnv* env, jclass class, jlong filter, jobject bytes, jint limit,
                                                           jintArray offsets, jboolean adds, jlongArray times,
                                                           jbyteArray verdicts) {
  (void)class;
  judge_between(env, filter_at(filter), (*env)->GetDirectBufferAddress(env, bytes), limit, offsets, adds, times, verdicts);
}

JNIEXPORT void JNICALL Java_io_everseen_Native_judgeIntegers(JNIEnv* env, jclass class, jlong filter, jlongArray keys,
                                                             jboolean adds, jlongArray times, jbyteArray verdicts) {
  (void)class;
  jlong* const copy = (*env)->GetLongArrayElements(env, keys, NULL);
  if (!copy) return;
  const size_t count = (size_t)(*env)->GetArrayLength(env, verdicts);
  beside b;
  if (prepare(env, times, verdicts, &b)) {
    const everseen_status status =
        adds ? everseen_add_int64(filter_at(filter), copy, count, b.times, b.times_count, (uint8_t*)b.verdicts)
             : everseen_check_int64(filter_at(filter), copy, count, b.times, b.times_count, (uint8_t*)b.verdicts);
    finish(env, status, &b);
  }
  (*env)->ReleaseLongArrayElements(env, keys, copy, JNI_ABORT);
}

/* A single key, without the cost of arrays: of at most one time, and short ones without malloc(). */
JNIEXPORT jint JNICALL Java_io_everseen_Native_judgeOne(JNIEnv* env, jclass class, jlong filter, jbyteArray key, jboolean adds,
                                                        jlongArray times) {
  (void)class;
  jbyte few[256];
  const jsize length = (*env)->GetArrayLength(env, key);
  const bool is_short = length <= (jsize)sizeof few;
  jbyte* const bytes = is_short ? few : (*env)->GetByteArrayElements(env, key, NULL);
  if (!bytes) return EVERSEEN_UNKNOWN;
  if (is_short) (*env)->GetByteArrayRegion(env, key, 0, length, few);
  jlong time = 0;
  const size_t times_count = (*env)->GetArrayLength(env, times) == 1 ? 1 : 0;
  if (times_count == 1) (*env)->GetLongArrayRegion(env, times, 0, 1, &time);
  const everseen_slice slice = {bytes, (size_t)length};
  uint8_t verdict = EVERSEEN_UNKNOWN;
  const everseen_status status = adds ? everseen_add_slices(filter_at(filter), &slice, 1, &time, times_count, &verdict)
                                      : everseen_check_slices(filter_at(filter), &slice, 1, &time, times_count, &verdict);
  if (!is_short) (*env)->ReleaseByteArrayElements(env, key, bytes, JNI_ABORT);
  if (status != EVERSEEN_OK) {
    const jbyteArray verdicts = (*env)->NewByteArray(env, 1);
    if (!verdicts) return EVERSEEN_UNKNOWN;
    (*env)->SetByteArrayRegion(env, verdicts, 0, 1, (const jbyte*)&verdict);
    throw_status(env, status, verdicts);
  }
  return verdict;
}

/* Claims events. Of equal numbers: keys, positions, verdicts. */
static void claim_all(JNIEnv* env, everseen_job* job, const char* source, const jbyte* bytes, const jint* offsets,
                      const jlong* positions, beside* b, size_t count) {
  everseen_slice* const keys = malloc((count + 1) * sizeof *keys);
  if (!keys) {
    const jclass type = (*env)->FindClass(env, "java/lang/OutOfMemoryError");
    release(env, b);
    if (type) (*env)->ThrowNew(env, type, "no memory for the keys of a claim");
    return;
  }
  for (size_t i = 0; i < count; ++i) keys[i] = (everseen_slice){bytes + offsets[i], (size_t)(offsets[i + 1] - offsets[i])};
  const everseen_status status = everseen_claim(job, source, keys, (const uint64_t*)positions, count, b->times, b->times_count,
                                                (uint8_t*)b->verdicts, NULL);
  free(keys);
  finish(env, status, b);
}

/* The offsets are of io.everseen.Keys, so they are valid. */
JNIEXPORT void JNICALL Java_io_everseen_Native_claim(JNIEnv* env, jclass class, jlong job, jbyteArray source, jbyteArray bytes,
                                                     jintArray offsets, jlongArray positions, jlongArray times,
                                                     jbyteArray verdicts) {
  (void)class;
  const text from = text_of(env, source);
  jbyte* const copy = from.bytes ? (*env)->GetByteArrayElements(env, bytes, NULL) : NULL;
  jint* const at = copy ? (*env)->GetIntArrayElements(env, offsets, NULL) : NULL;
  jlong* const where = at ? (*env)->GetLongArrayElements(env, positions, NULL) : NULL;
  beside b;
  if (where && prepare(env, times, verdicts, &b))
    claim_all(env, job_at(job), chars(from), copy, at, where, &b, (size_t)(*env)->GetArrayLength(env, verdicts));
  if (where) (*env)->ReleaseLongArrayElements(env, positions, where, JNI_ABORT);
  if (at) (*env)->ReleaseIntArrayElements(env, offsets, at, JNI_ABORT);
  if (copy) (*env)->ReleaseByteArrayElements(env, bytes, copy, JNI_ABORT);
  free_text(env, from);
}

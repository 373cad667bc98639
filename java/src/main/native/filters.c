/* Filters: everything but keys. */
#include <string.h>

#include "everseen_jni.h"
#include "io_everseen_Native.h"

static everseen_status opened(jint how, const char* url, const char* name, const everseen_options* options,
                              everseen_filter** into) {
  switch (how) {
    case io_everseen_Native_OPEN:
      return everseen_open(url, name, into);
    case io_everseen_Native_OPEN_TO_READ:
      return everseen_open_to_read(url, name, into);
    case io_everseen_Native_CREATE:
      return everseen_create(url, name, options, into);
    default:
      return everseen_open_or_create(url, name, options, into);
  }
}

JNIEXPORT jlong JNICALL Java_io_everseen_Native_open(JNIEnv* env, jclass class, jint how, jbyteArray url, jbyteArray name,
                                                     jlong capacity, jdouble error_rate, jlong window, jint slices,
                                                     jint growth, jint hash, jint judge, jlong lifetime) {
  (void)class;
  everseen_options options = EVERSEEN_OPTIONS_INIT;
  options.capacity = (uint64_t)capacity;
  options.error_rate = error_rate;
  options.window_ms = (uint64_t)window;
  options.slices = (uint32_t)slices;
  options.growth = (uint32_t)growth;
  options.hash = (uint32_t)hash;
  options.judge = (uint32_t)judge;
  options.lifetime_ms = (uint64_t)lifetime;
  everseen_filter* filter = NULL;
  const text store = text_of(env, url);
  const text called = store.bytes ? text_of(env, name) : (text){NULL, NULL};
  if (called.bytes) {
    const everseen_status status = opened(how, chars(store), chars(called), &options, &filter);
    if (status != EVERSEEN_OK) throw_status(env, status, NULL);
  }
  free_text(env, called);
  free_text(env, store);
  return pointer_to(filter);
}

JNIEXPORT void JNICALL Java_io_everseen_Native_close(JNIEnv* env, jclass class, jlong filter) {
  (void)env, (void)class;
  everseen_close(filter_at(filter));
}

JNIEXPORT void JNICALL Java_io_everseen_Native_drop(JNIEnv* env, jclass class, jbyteArray url, jbyteArray name) {
  (void)class;
  const text store = text_of(env, url);
  const text called = store.bytes ? text_of(env, name) : (text){NULL, NULL};
  if (called.bytes) {
    const everseen_status status = everseen_drop(chars(store), chars(called));
    if (status != EVERSEEN_OK) throw_status(env, status, NULL);
  }
  free_text(env, called);
  free_text(env, store);
}

JNIEXPORT jlong JNICALL Java_io_everseen_Native_sibling(JNIEnv* env, jclass class, jlong filter, jbyteArray url,
                                                        jbyteArray name) {
  (void)class;
  everseen_filter* made = NULL;
  const text store = text_of(env, url);
  const text called = store.bytes ? text_of(env, name) : (text){NULL, NULL};
  if (called.bytes) {
    const everseen_status status = everseen_create_sibling(filter_at(filter), chars(store), chars(called), &made);
    if (status != EVERSEEN_OK) throw_status(env, status, NULL);
  }
  free_text(env, called);
  free_text(env, store);
  return pointer_to(made);
}

JNIEXPORT void JNICALL Java_io_everseen_Native_merge(JNIEnv* env, jclass class, jlong filter, jlong sibling) {
  (void)class;
  const everseen_status status = everseen_merge(filter_at(filter), filter_at(sibling));
  if (status != EVERSEEN_OK) throw_status(env, status, NULL);
}

JNIEXPORT void JNICALL Java_io_everseen_Native_sync(JNIEnv* env, jclass class, jlong filter) {
  (void)class;
  const everseen_status status = everseen_sync(filter_at(filter));
  if (status != EVERSEEN_OK) throw_status(env, status, NULL);
}

JNIEXPORT jbyteArray JNICALL Java_io_everseen_Native_info(JNIEnv* env, jclass class, jlong filter) {
  (void)class;
  char* json = NULL;
  const everseen_status status = everseen_info(filter_at(filter), &json);
  if (status != EVERSEEN_OK) {
    throw_status(env, status, NULL);
    return NULL;
  }
  const jsize length = (jsize)strlen(json);
  const jbyteArray bytes = (*env)->NewByteArray(env, length);
  if (bytes) (*env)->SetByteArrayRegion(env, bytes, 0, length, (const jbyte*)json);
  everseen_free(json);
  return bytes;
}

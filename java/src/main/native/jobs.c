/* Jobs: everything but claims. */
#include "everseen_jni.h"
#include "io_everseen_Native.h"

JNIEXPORT jlong JNICALL Java_io_everseen_Native_openJob(JNIEnv* env, jclass class, jlong filter, jbyteArray name,
                                                        jbyteArray description) {
  (void)class;
  everseen_job* job = NULL;
  const text called = text_of(env, name);
  const text told = called.bytes ? text_of(env, description) : (text){NULL, NULL};
  if (told.bytes) {
    const everseen_status status = everseen_open_job(filter_at(filter), chars(called), chars(told), &job);
    if (status != EVERSEEN_OK) throw_status(env, status, NULL);
  }
  free_text(env, told);
  free_text(env, called);
  return pointer_to(job);
}

JNIEXPORT void JNICALL Java_io_everseen_Native_closeJob(JNIEnv* env, jclass class, jlong job) {
  (void)env, (void)class;
  everseen_close_job(job_at(job));
}

JNIEXPORT void JNICALL Java_io_everseen_Native_endJob(JNIEnv* env, jclass class, jlong filter, jbyteArray name) {
  (void)class;
  const text called = text_of(env, name);
  if (!called.bytes) return;
  const everseen_status status = everseen_end_job(filter_at(filter), chars(called));
  if (status != EVERSEEN_OK) throw_status(env, status, NULL);
  free_text(env, called);
}

JNIEXPORT void JNICALL Java_io_everseen_Native_settle(JNIEnv* env, jclass class, jlong job, jbyteArray source, jlong position) {
  (void)class;
  const text from = text_of(env, source);
  if (!from.bytes) return;
  const everseen_status status = everseen_settle(job_at(job), chars(from), (uint64_t)position);
  if (status != EVERSEEN_OK) throw_status(env, status, NULL);
  free_text(env, from);
}

JNIEXPORT jlong JNICALL Java_io_everseen_Native_settled(JNIEnv* env, jclass class, jlong job, jbyteArray source) {
  (void)class;
  uint64_t position = 0;
  const text from = text_of(env, source);
  if (!from.bytes) return 0;
  const everseen_status status = everseen_settled(job_at(job), chars(from), &position);
  if (status != EVERSEEN_OK) throw_status(env, status, NULL);
  free_text(env, from);
  return (jlong)position;
}

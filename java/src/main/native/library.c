/* Loading, errors and texts. */
#include <string.h>

#include "everseen_jni.h"

static jclass error_type;
static jmethodID error_of; /* EverseenException.of(status, message, verdicts) */

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* machine, void* reserved) {
  (void)reserved;
  JNIEnv* env;
  if ((*machine)->GetEnv(machine, (void**)&env, JNI_VERSION_10) != JNI_OK) return JNI_ERR;
  const jclass found = (*env)->FindClass(env, "io/everseen/EverseenException");
  if (!found) return JNI_ERR;
  error_of = (*env)->GetStaticMethodID(env, found, "of", "(I[B[B)Ljava/lang/Throwable;");
  error_type = (*env)->NewGlobalRef(env, found);
  return error_of && error_type ? JNI_VERSION_10 : JNI_ERR;
}

void throw_status(JNIEnv* env, everseen_status status, jbyteArray verdicts) {
  const char* const message = everseen_last_error();
  const jsize length = (jsize)strlen(message);
  const jbyteArray bytes = (*env)->NewByteArray(env, length);
  if (!bytes) return;
  (*env)->SetByteArrayRegion(env, bytes, 0, length, (const jbyte*)message);
  const jobject error = (*env)->CallStaticObjectMethod(env, error_type, error_of, (jint)status, bytes, verdicts);
  if (!(*env)->ExceptionCheck(env)) (*env)->Throw(env, error);
}

text text_of(JNIEnv* env, jbyteArray array) { return (text){array, (*env)->GetByteArrayElements(env, array, NULL)}; }

void free_text(JNIEnv* env, text t) {
  if (t.bytes) (*env)->ReleaseByteArrayElements(env, t.array, t.bytes, JNI_ABORT);
}

/* Filters as streams of bytes. The library calls these functions on the thread that called it, so that its environment is
 * valid. An exception of a stream ends the call, and stays pending. */
#include "everseen_jni.h"
#include "io_everseen_Native.h"

enum { MOST_AT_ONCE = 1 << 20 };

typedef struct {
  JNIEnv* env;
  jobject stream;
  jmethodID method;
  jbyteArray piece; /* of MOST_AT_ONCE bytes */
} callback;

/* Returns false with an exception thrown. */
static bool prepare_callback(callback* c, const char* type, const char* method, const char* signature) {
  JNIEnv* const env = c->env;
  const jclass found = (*env)->FindClass(env, type);
  c->method = found ? (*env)->GetMethodID(env, found, method, signature) : NULL;
  c->piece = c->method ? (*env)->NewByteArray(env, MOST_AT_ONCE) : NULL;
  return c->piece != NULL;
}

static jsize at_most(size_t length) { return length < MOST_AT_ONCE ? (jsize)length : MOST_AT_ONCE; }

static int write_bytes(void* context, const void* bytes, size_t length) {
  callback* const c = context;
  JNIEnv* const env = c->env;
  while (length > 0) {
    const jsize some = at_most(length);
    (*env)->SetByteArrayRegion(env, c->piece, 0, some, bytes);
    (*env)->CallVoidMethod(env, c->stream, c->method, c->piece, (jint)0, (jint)some);
    if ((*env)->ExceptionCheck(env)) return 1;
    bytes = (const char*)bytes + some;
    length -= (size_t)some;
  }
  return 0;
}

static int64_t read_bytes(void* context, void* into, size_t length) {
  callback* const c = context;
  JNIEnv* const env = c->env;
  const jsize wanted = at_most(length);
  const jint count = (*env)->CallIntMethod(env, c->stream, c->method, c->piece, (jint)0, (jint)wanted);
  if ((*env)->ExceptionCheck(env)) return -1;
  if (count < 0 || count > wanted) {
    const jclass type = (*env)->FindClass(env, "java/lang/IllegalStateException");
    if (type) (*env)->ThrowNew(env, type, "readNBytes() of the stream returned another number than it was asked for");
    return -1;
  }
  (*env)->GetByteArrayRegion(env, c->piece, 0, count, into);
  return count;
}

JNIEXPORT void JNICALL Java_io_everseen_Native_exportTo(JNIEnv* env, jclass class, jlong filter, jobject out) {
  (void)class;
  callback c = {.env = env, .stream = out};
  if (!prepare_callback(&c, "java/io/OutputStream", "write", "([BII)V")) return;
  const everseen_status status = everseen_export(filter_at(filter), write_bytes, &c);
  if (status != EVERSEEN_OK && !(*env)->ExceptionCheck(env)) throw_status(env, status, NULL);
}

JNIEXPORT void JNICALL Java_io_everseen_Native_importFrom(JNIEnv* env, jclass class, jbyteArray url, jbyteArray name,
                                                          jobject in) {
  (void)class;
  callback c = {.env = env, .stream = in};
  if (!prepare_callback(&c, "java/io/InputStream", "readNBytes", "([BII)I")) return;
  const text store = text_of(env, url);
  const text called = store.bytes ? text_of(env, name) : (text){NULL, NULL};
  if (called.bytes) {
    const everseen_status status = everseen_import(chars(store), chars(called), read_bytes, &c);
    if (status != EVERSEEN_OK && !(*env)->ExceptionCheck(env)) throw_status(env, status, NULL);
  }
  free_text(env, called);
  free_text(env, store);
}

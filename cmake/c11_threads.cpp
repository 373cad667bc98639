// C11's threads as POSIX threads, for builds with ThreadSanitizer: it sees threads, joins and locks only
// through the POSIX functions, which glibc's C11 functions bypass. librdkafka creates its threads with C11;
// without this, the first of them ends the process.
//
// Loaded before libc, so that calls from libraries reach it. glibc's types of both families have one layout.

#include <cerrno>
#include <cstdint>
#include <memory>

#include <pthread.h>
#include <threads.h>

namespace {

struct beginning {
  thrd_start_t run;
  void* argument;
};

void* begin(void* given) {
  const std::unique_ptr<beginning> b(static_cast<beginning*>(given));
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(b->run(b->argument)));
}

int c11(int error) {
  switch (error) {
    case 0:
      return thrd_success;
    case EBUSY:
      return thrd_busy;
    case ETIMEDOUT:
      return thrd_timedout;
    case ENOMEM:
      return thrd_nomem;
    default:
      return thrd_error;
  }
}

pthread_mutex_t* posix(mtx_t* m) {
  return reinterpret_cast<pthread_mutex_t*>(m);
}
pthread_cond_t* posix(cnd_t* c) {
  return reinterpret_cast<pthread_cond_t*>(c);
}

}  // namespace

extern "C" {

int thrd_create(thrd_t* made, thrd_start_t run, void* argument) {
  auto b = std::make_unique<beginning>(beginning{run, argument});
  const int error = pthread_create(made, nullptr, begin, b.get());
  if (error == 0) (void)b.release();
  return c11(error);
}
int thrd_join(thrd_t t, int* result) {
  void* ended = nullptr;
  const int error = pthread_join(t, &ended);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(ended));
  return c11(error);
}
int thrd_detach(thrd_t t) {
  return c11(pthread_detach(t));
}

int mtx_init(mtx_t* m, int kind) {
  pthread_mutexattr_t how;
  pthread_mutexattr_init(&how);
  if ((kind & mtx_recursive) != 0) pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
  const int error = pthread_mutex_init(posix(m), &how);
  pthread_mutexattr_destroy(&how);
  return c11(error);
}
int mtx_lock(mtx_t* m) {
  return c11(pthread_mutex_lock(posix(m)));
}
int mtx_trylock(mtx_t* m) {
  return c11(pthread_mutex_trylock(posix(m)));
}
int mtx_timedlock(mtx_t* m, const timespec* until) {
  return c11(pthread_mutex_timedlock(posix(m), until));
}
int mtx_unlock(mtx_t* m) {
  return c11(pthread_mutex_unlock(posix(m)));
}
void mtx_destroy(mtx_t* m) {
  pthread_mutex_destroy(posix(m));
}

int cnd_init(cnd_t* c) {
  return c11(pthread_cond_init(posix(c), nullptr));
}
int cnd_signal(cnd_t* c) {
  return c11(pthread_cond_signal(posix(c)));
}
int cnd_broadcast(cnd_t* c) {
  return c11(pthread_cond_broadcast(posix(c)));
}
int cnd_wait(cnd_t* c, mtx_t* m) {
  return c11(pthread_cond_wait(posix(c), posix(m)));
}
int cnd_timedwait(cnd_t* c, mtx_t* m, const timespec* until) {
  return c11(pthread_cond_timedwait(posix(c), posix(m), until));
}
void cnd_destroy(cnd_t* c) {
  pthread_cond_destroy(posix(c));
}

}  // extern "C"

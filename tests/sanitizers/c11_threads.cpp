// The C11 thread functions, told in those of POSIX. ThreadSanitizer of GCC 12 knows only the latter: without this a
// thread that librdkafka starts has no shadow state, and the first line of ours that it runs ends the process; and the
// locks that librdkafka takes order nothing. Linked into programs of the TSan build only; types are laid out as glibc
// lays them out.
// Thread rule: any thread.
#include <cerrno>
#include <memory>
#include <pthread.h>
#include <threads.h>

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t),
              "a glibc that lays them out in another way");

namespace {

int told(int error) {
  switch (error) {
    case 0:
      return thrd_success;
    case ENOMEM:
      return thrd_nomem;
    case ETIMEDOUT:
      return thrd_timedout;
    case EBUSY:
      return thrd_busy;
    default:
      return thrd_error;
  }
}

pthread_mutex_t* posix(mtx_t* mutex) {
  return reinterpret_cast<pthread_mutex_t*>(mutex);
}
pthread_cond_t* posix(cnd_t* condition) {
  return reinterpret_cast<pthread_cond_t*>(condition);
}

struct Start {
  thrd_start_t run;
  void* argument;
};

void* run(void* start) {
  const std::unique_ptr<Start> what(static_cast<Start*>(start));
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(what->run(what->argument)));
}

}  // namespace

extern "C" {

int thrd_create(thrd_t* thread, thrd_start_t start, void* argument) {
  auto what = std::make_unique<Start>(Start{start, argument});
  const int error = ::pthread_create(thread, nullptr, run, what.get());
  if (error == 0) (void)what.release();
  return told(error);
}

int thrd_join(thrd_t thread, int* result) {
  void* returned = nullptr;
  const int error = ::pthread_join(thread, &returned);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(returned));
  return told(error);
}

int mtx_init(mtx_t* mutex, int type) {
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  if ((type & mtx_recursive) != 0) ::pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  const int error = ::pthread_mutex_init(posix(mutex), &attributes);
  ::pthread_mutexattr_destroy(&attributes);
  return told(error);
}
void mtx_destroy(mtx_t* mutex) {
  ::pthread_mutex_destroy(posix(mutex));
}
int mtx_lock(mtx_t* mutex) {
  return told(::pthread_mutex_lock(posix(mutex)));
}
int mtx_unlock(mtx_t* mutex) {
  return told(::pthread_mutex_unlock(posix(mutex)));
}

int cnd_init(cnd_t* condition) {
  return told(::pthread_cond_init(posix(condition), nullptr));
}
void cnd_destroy(cnd_t* condition) {
  ::pthread_cond_destroy(posix(condition));
}
int cnd_signal(cnd_t* condition) {
  return told(::pthread_cond_signal(posix(condition)));
}
int cnd_broadcast(cnd_t* condition) {
  return told(::pthread_cond_broadcast(posix(condition)));
}
int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return told(::pthread_cond_wait(posix(condition), posix(mutex)));
}
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const struct timespec* until) {
  return told(::pthread_cond_timedwait(posix(condition), posix(mutex), until));
}

void call_once(once_flag* flag, void (*what)()) {
  ::pthread_once(reinterpret_cast<pthread_once_t*>(flag), what);
}

}  // extern "C"

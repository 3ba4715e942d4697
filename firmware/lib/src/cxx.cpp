// What C++ needs beside C: new and delete, static variables of functions, pure virtual functions.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "cxx_names.h"

static void end(const char *why) {
  size_t length = 0;
  while (why[length])
    length++;
  write(STDERR_FILENO, why, length);
  abort();
}

// Without exceptions, memory that is used up ends the program.
static void *allocate(size_t size, size_t alignment) {
  size += size == 0;
  void *memory = alignment <= 16 ? malloc(size)
                                 : aligned_alloc(alignment, (size + alignment - 1) & -alignment);
  if (!memory)
    end("new: memory is used up\n");
  return memory;
}

void *operator new(size_t size) { return allocate(size, 1); }
void *operator new[](size_t size) { return allocate(size, 1); }
void *operator new(size_t size, std::align_val_t at) {
  return allocate(size, static_cast<size_t>(at));
}
void *operator new[](size_t size, std::align_val_t at) {
  return allocate(size, static_cast<size_t>(at));
}
void *operator new(size_t size, const std::nothrow_t &) noexcept {
  return malloc(size + (size == 0));
}
void *operator new[](size_t size, const std::nothrow_t &) noexcept {
  return malloc(size + (size == 0));
}
void operator delete(void *memory) noexcept { free(memory); }
void operator delete[](void *memory) noexcept { free(memory); }
void operator delete(void *memory, size_t) noexcept { free(memory); }
void operator delete[](void *memory, size_t) noexcept { free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { free(memory); }
void operator delete[](void *memory, std::align_val_t) noexcept { free(memory); }
void operator delete(void *memory, size_t, std::align_val_t) noexcept { free(memory); }
void operator delete[](void *memory, size_t, std::align_val_t) noexcept { free(memory); }

const std::nothrow_t std::nothrow{};

extern "C" {
void __cxa_pure_virtual() { end("a pure virtual function was called\n"); }
void __cxa_deleted_virtual() { end("a deleted virtual function was called\n"); }

// A guard is 64 bits, of which the compiler reads the first byte: 1 when the variable is there. The
// rest is ours: which thread makes it is told by a lock that all guards share, so that a function
// whose variable needs another one works.
static pthread_mutex_t guards = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

int __cxa_guard_acquire(char *guard) {
  pthread_mutex_lock(&guards);
  if (!*guard)
    return 1;
  pthread_mutex_unlock(&guards);
  return 0;
}

void __cxa_guard_release(char *guard) {
  __atomic_store_n(guard, 1, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&guards);
}

void __cxa_guard_abort(char *) { pthread_mutex_unlock(&guards); }
}

// Destructors of thread-local variables, in the reverse order of their constructors.
namespace {
struct Destructor {
  void (*function)(void *);
  void *object;
  Destructor *next;
};

pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_key_t key;

void destroy(void *list) {
  // A destructor may make further variables, which the key's next round ends.
  while (Destructor *destructor = static_cast<Destructor *>(list)) {
    list = destructor->next;
    destructor->function(destructor->object);
    free(destructor);
  }
}

// The thread that ends the program has them, too.
void destroy_own() {
  while (void *list = pthread_getspecific(key)) {
    pthread_setspecific(key, nullptr);
    destroy(list);
  }
}

void begin() {
  pthread_key_create(&key, destroy);
  atexit(destroy_own);
}
} // namespace

extern "C" int __cxa_thread_atexit(void (*function)(void *), void *object, void *) {
  pthread_once(&once, begin);
  auto *destructor = static_cast<Destructor *>(malloc(sizeof(Destructor)));
  if (!destructor)
    return -1;
  *destructor = {function, object, static_cast<Destructor *>(pthread_getspecific(key))};
  return pthread_setspecific(key, destructor);
}

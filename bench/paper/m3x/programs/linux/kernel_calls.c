// The calls of the card's kernel that the C library makes, under Linux: memory, threads, words to
// wait at, and the end. So a program has the same library here as on the card.
#include <flick/card.h>
#include <stdbool.h>
#include <string.h>

#include "system_calls.h"

// docs/kernel-calls.md
enum {
  THREAD_SELF = 0,
  THREAD_CREATE = 16,
  THREAD_EXIT = 17,
  THREAD_JOIN = 18,
  THREAD_YIELD = 20,
  THREAD_SLEEP = 21,
  THREAD_WAIT_ON = 23,
  THREAD_WAKE_ON = 24,
  MEMORY_MAP = 32,
  MEMORY_UNMAP = 33,
  PROCESS_END = 45,
};

enum { PROT_BITS = 7, MAP_PRIVATE_ANONYMOUS = 0x22, MAP_FIXED_NOREPLACE = 0x100000 };
enum { FUTEX_WAIT_BITSET_PRIVATE = 9 | 128, FUTEX_WAKE_PRIVATE = 1 | 128 };
// CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, SETTLS, PARENT_SETTID, CHILD_CLEARTID
#define THREAD_FLAGS 0x3d0f00ul
#define MOST_THREADS 16

// Threads by number, for those who join them. Linux clears `running` at a thread's end.
static struct {
  uint32_t running, number;
  uint64_t value;
} threads[MOST_THREADS];

int64_t linux_clone(uint64_t flags, void *stack, uint32_t *parent, uint64_t tls, uint32_t *child,
                    uint64_t entry);

static int64_t create_thread(uint64_t entry, uint64_t argument, uint64_t stack, uint64_t tls) {
  // What the library wants in a0 is the end of the stack.
  if (argument != stack)
    return -FLICK_EINVAL;
  for (int n = 0; n < MOST_THREADS; n++) {
    uint32_t free = 0;
    if (!__atomic_compare_exchange_n(&threads[n].number, &free, UINT32_MAX, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
      continue;
    int64_t number = linux_clone(THREAD_FLAGS, (void *)stack, &threads[n].running, tls,
                                 &threads[n].running, entry);
    threads[n].number = number < 0 ? 0 : number;
    return number;
  }
  return -FLICK_EAGAIN;
}

static int slot_of(uint64_t number) {
  for (int n = 0; n < MOST_THREADS; n++)
    if (__atomic_load_n(&threads[n].number, __ATOMIC_ACQUIRE) == number)
      return n;
  return -1;
}

static int64_t join(uint64_t number, uint64_t *value) {
  int slot = slot_of(number);
  if (slot < 0)
    return -FLICK_ENOENT;
  uint32_t running;
  // Linux wakes those who wait there by a call without "private".
  while ((running = __atomic_load_n(&threads[slot].running, __ATOMIC_ACQUIRE)))
    linux_call(LINUX_FUTEX, (int64_t)&threads[slot].running, 0, running, 0, 0, 0);
  if (value)
    *value = threads[slot].value;
  __atomic_store_n(&threads[slot].number, 0, __ATOMIC_RELEASE);
  return 0;
}

static void exit_thread(uint64_t value) {
  int slot = slot_of(linux_call(LINUX_GETTID, 0, 0, 0, 0, 0, 0));
  if (slot >= 0)
    threads[slot].value = value;
  linux_call(LINUX_EXIT, 0, 0, 0, 0, 0, 0);
}

// The clock of a machine, by its ticks, as Linux's time of the same clock.
struct linux_time {
  int64_t seconds, nanoseconds;
};

static struct linux_time time_of(uint64_t ticks) {
  uint64_t frequency = flick_program.frequency;
  return (struct linux_time){ticks / frequency, ticks % frequency * (1000000000 / frequency)};
}

static int64_t wait_on(uint32_t *word, uint32_t value, uint64_t until) {
  struct linux_time time = time_of(until);
  int64_t result = linux_call(LINUX_FUTEX, (int64_t)word, FUTEX_WAIT_BITSET_PRIVATE, value,
                              until == FLICK_FOR_EVER ? 0 : (int64_t)&time, 0, -1);
  return result == -ETIMEDOUT ? -FLICK_ETIMEDOUT : 0;
}

static int64_t map(uint64_t at, uint64_t size, uint64_t rights) {
  uint64_t flags = MAP_PRIVATE_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0);
  return linux_call(LINUX_MMAP, at, size, rights & PROT_BITS, flags, -1, 0);
}

static void sleep_until(uint64_t until) {
  uint64_t now = flick_time();
  if (until <= now)
    return;
  struct linux_time time = time_of(until - now);
  linux_call(LINUX_NANOSLEEP, (int64_t)&time, 0, 0, 0, 0, 0);
}

int64_t flick_call(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                   uint64_t f, uint64_t *second) {
  (void)e;
  (void)f;
  switch (number) {
  case MEMORY_MAP:
    return map(a, b, c);
  case MEMORY_UNMAP:
    return linux_call(LINUX_MUNMAP, a, b, 0, 0, 0, 0);
  case PROCESS_END:
    return linux_call(LINUX_EXIT_GROUP, b, 0, 0, 0, 0, 0);
  case THREAD_SELF:
    return linux_call(LINUX_GETTID, 0, 0, 0, 0, 0, 0);
  case THREAD_CREATE:
    return create_thread(a, b, c, d);
  case THREAD_EXIT:
    exit_thread(a);
    return 0;
  case THREAD_JOIN:
    return join(a, second);
  case THREAD_YIELD:
    return linux_call(LINUX_SCHED_YIELD, 0, 0, 0, 0, 0, 0);
  case THREAD_SLEEP:
    sleep_until(a);
    return 0;
  case THREAD_WAIT_ON:
    return wait_on((uint32_t *)a, b, c);
  case THREAD_WAKE_ON:
    return linux_call(LINUX_FUTEX, a, FUTEX_WAKE_PRIVATE, b > INT32_MAX ? INT32_MAX : b, 0, 0, 0);
  }
  return -FLICK_ENOSYS;
}

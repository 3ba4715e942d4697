// Threads: their stacks and thread-local data, how they start and end.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"
#include "thread.h"

#define DEFAULT_STACK (128ul << 10)

enum { DETACHED = 1, ENDED = 2 };

// The program's headers, which the linker puts into the first segment.
extern const Elf64_Ehdr __ehdr_start;
void __card_thread_entry(void);

static struct card_word lock;
// Threads that have not ended.
static struct card_word living = {1};
static struct {
  // Blocks of the default size that no thread has.
  _Alignas(CARD_LINE) struct __card_thread *free;
  // Records of detached threads that end.
  struct __card_thread *ending;
} blocks;

const Elf64_Phdr *__card_segment(uint32_t type) {
  const Elf64_Phdr *segment =
      (const Elf64_Phdr *)((const char *)&__ehdr_start + __ehdr_start.e_phoff);
  for (int n = 0; n < __ehdr_start.e_phnum; n++)
    if (segment[n].p_type == type)
      return &segment[n];
  return NULL;
}

// The record and thread-local data at the end of a block.
static struct __card_thread *fill_block(char *memory, uint64_t size) {
  static const Elf64_Phdr none = {.p_align = 1};
  const Elf64_Phdr *segment = __card_segment(PT_TLS);
  if (!segment)
    segment = &none;
  uint64_t alignment = segment->p_align > CARD_LINE ? segment->p_align : CARD_LINE;
  uintptr_t tls = ((uintptr_t)memory + size - segment->p_memsz) & -alignment;
  memcpy((void *)tls, (const void *)segment->p_vaddr, segment->p_filesz);
  memset((char *)tls + segment->p_filesz, 0, segment->p_memsz - segment->p_filesz);
  struct __card_thread *thread = (struct __card_thread *)tls - 1;
  memset(thread, 0, sizeof *thread);
  thread->memory = memory;
  thread->size = size;
  return thread;
}

// Bytes for what is not stack.
static uint64_t overhead(void) {
  const Elf64_Phdr *segment = __card_segment(PT_TLS);
  uint64_t tls = segment ? segment->p_memsz + segment->p_align : 0;
  return tls + CARD_LINE + sizeof(struct __card_thread);
}

void __card_first_thread(void) {
  uint64_t size = whole_pages(overhead());
  int64_t memory = flick_memory_map(0, size, FLICK_READ | FLICK_WRITE);
  if (memory < 0)
    flick_process_end(0, 127);
  struct __card_thread *thread = fill_block((char *)memory, size);
  __asm__ volatile("mv tp, %0" ::"r"(thread + 1) : "memory");
  thread->number = flick_thread_self();
}

static void free_block(struct __card_thread *thread) {
  if (thread->size != whole_pages(DEFAULT_STACK + overhead())) {
    flick_memory_unmap((uintptr_t)thread->memory, thread->size);
    return;
  }
  card_lock(&lock.word);
  thread->next = blocks.free;
  blocks.free = thread;
  card_unlock(&lock.word);
}

static struct __card_thread *new_block(uint64_t stack) {
  uint64_t size = whole_pages(stack + overhead());
  if (stack == DEFAULT_STACK) {
    card_lock(&lock.word);
    struct __card_thread *block = blocks.free;
    if (block)
      blocks.free = block->next;
    card_unlock(&lock.word);
    if (block)
      return fill_block(block->memory, block->size);
  }
  // The kernel leaves a page between two mappings, which stops a stack that is too small.
  int64_t memory = flick_memory_map(0, size, FLICK_READ | FLICK_WRITE);
  return memory < 0 ? NULL : fill_block((char *)memory, size);
}

static void wait_and_free(struct __card_thread *thread) {
  uint64_t value;
  flick_thread_join(thread->number, FLICK_FOR_EVER, &value);
  free_block(thread);
}

// Detached threads cannot free the stack on which they run.
static void free_ended(void) {
  // Without coherence the lock alone tells what others have added.
  if (!flick_program.incoherent && !__atomic_load_n(&blocks.ending, __ATOMIC_RELAXED))
    return;
  card_lock(&lock.word);
  struct __card_thread *thread = blocks.ending;
  blocks.ending = NULL;
  card_unlock(&lock.word);
  while (thread) {
    struct __card_thread *next = thread->next;
    wait_and_free(thread);
    thread = next;
  }
}

static void add_ending(struct __card_thread *thread) {
  card_lock(&lock.word);
  thread->next = blocks.ending;
  __atomic_store_n(&blocks.ending, thread, __ATOMIC_RELAXED);
  card_unlock(&lock.word);
}

__attribute__((noreturn)) void __card_thread_begin(struct __card_thread *self) {
  card_acquired();
  __atomic_exchange_n(&self->number, flick_thread_self(), __ATOMIC_RELAXED);
  pthread_exit(self->entry(self->argument));
}

int pthread_create(pthread_t *restrict made, const pthread_attr_t *restrict attributes,
                   void *(*entry)(void *), void *restrict argument) {
  free_ended();
  uint64_t stack = attributes ? attributes->stack_size : DEFAULT_STACK;
  struct __card_thread *thread = new_block(stack);
  if (!thread)
    return EAGAIN;
  thread->entry = entry;
  thread->argument = argument;
  if (attributes && attributes->detach_state == PTHREAD_CREATE_DETACHED)
    thread->state = DETACHED;
  __atomic_fetch_add(&living.word, 1, __ATOMIC_RELAXED);
  // Before the thread runs, which may end and be freed if it is detached.
  *made = thread;
  __atomic_thread_fence(__ATOMIC_RELEASE);
  int64_t number =
      flick_thread_create((uintptr_t)__card_thread_entry, (uintptr_t)thread, (uintptr_t)thread,
                          (uintptr_t)(thread + 1), FLICK_NORMAL_PRIORITY);
  if (number < 0) {
    __atomic_fetch_sub(&living.word, 1, __ATOMIC_RELAXED);
    free_block(thread);
    return EAGAIN;
  }
  if (thread->state != DETACHED)
    __atomic_exchange_n(&thread->number, number, __ATOMIC_RELAXED);
  return 0;
}

void pthread_exit(void *value) {
  struct __card_thread *self = card_thread();
  __card_end_keys(self);
  // The last thread ends the program.
  if (__atomic_sub_fetch(&living.word, 1, __ATOMIC_ACQ_REL) == 0)
    exit(0);
  if (__atomic_fetch_or(&self->state, ENDED, __ATOMIC_ACQ_REL) & DETACHED)
    add_ending(self);
  for (;;)
    flick_thread_exit((uintptr_t)value);
}

int pthread_join(pthread_t thread, void **value) {
  if (card_load(&thread->state) & DETACHED)
    return EINVAL;
  uint64_t got;
  int64_t result = flick_thread_join(thread->number, FLICK_FOR_EVER, &got);
  if (result < 0)
    return result == -FLICK_ENOENT ? ESRCH : flick_errno(result);
  card_acquired();
  if (value)
    *value = (void *)(uintptr_t)got;
  free_block(thread);
  return 0;
}

int pthread_detach(pthread_t thread) {
  uint32_t before = __atomic_fetch_or(&thread->state, DETACHED, __ATOMIC_ACQ_REL);
  if (before & DETACHED)
    return EINVAL;
  if (before & ENDED)
    add_ending(thread);
  return 0;
}

pthread_t pthread_self(void) { return card_thread(); }

int pthread_equal(pthread_t one, pthread_t other) { return one == other; }

int sched_yield(void) {
  flick_thread_yield();
  // Who polls what others store waits by this.
  card_acquired();
  return 0;
}

int pthread_attr_init(pthread_attr_t *attributes) {
  *attributes = (pthread_attr_t){.stack_size = DEFAULT_STACK};
  return 0;
}

int pthread_attr_destroy(pthread_attr_t *attributes) {
  (void)attributes;
  return 0;
}

int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size) {
  if (size < PTHREAD_STACK_MIN)
    return EINVAL;
  attributes->stack_size = size;
  return 0;
}

int pthread_attr_getstacksize(const pthread_attr_t *attributes, size_t *size) {
  *size = attributes->stack_size;
  return 0;
}

int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state) {
  if (state != PTHREAD_CREATE_JOINABLE && state != PTHREAD_CREATE_DETACHED)
    return EINVAL;
  attributes->detach_state = state;
  return 0;
}

int pthread_attr_getdetachstate(const pthread_attr_t *attributes, int *state) {
  *state = attributes->detach_state;
  return 0;
}

// What programs with random calls have in common: children in rounds, and what is looked at between
// them.
#ifndef RANDOM_ROUNDS_H
#define RANDOM_ROUNDS_H
#include "witness.h"

// What a child ends with that has gained a right: the call in bits 15:8.
#define GAINED 0x77770000ul

// Memory that all share: how many calls there were, and what the parent stores to when there may be
// no memory for a page of its own.
#define COUNTS_AT (WITNESS_AT + 4096)
enum { COUNTS_SIZE = 8192 };
static u64 *const counts = (u64 *)COUNTS_AT;
#define parent_rounds counts[8]
#define free_before counts[16]

static u64 next(u64 *state) {
  u64 x = *state;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return *state = x;
}

// What the witness has told before: an atomic operation would be a store.
static u64 see(const u64 *at) { return *(const volatile u64 *)at; }

static void failed(const char *what, u64 seed, u64 value) {
  print(what, value, "");
  print(", seed ", seed, "\n");
  call(PROCESS_END, 0, 2, 0, 0, 0, 0, 0);
}

static u64 free_pages(void) { return call1(MEMORY_FREE, 0); }

// All pages are free again, when the children's children have ended, too. A message to the witness
// has one.
static void look_at_pages(u64 seed, u64 frequency) {
  u64 left = free_pages();
  // At first the parent and the witness still store to pages that they have had in common. The
  // children's children may still end.
  if (load(&parent_rounds) < 4) {
    for (int n = 0; n < 20; n++) {
      call1(THREAD_SLEEP, now() + frequency / 2000);
      u64 later = free_pages();
      left = later > left ? later : left;
    }
    free_before = left;
  }
  for (int n = 0; n < 100 && left + 2 < free_before; n++) {
    call1(THREAD_SLEEP, now() + frequency / 2000);
    left = free_pages();
  }
  if (left + 2 < free_before || left > free_before + 2)
    failed("pages are lost or found: ", seed, free_before - left);
}

// Waits for a child as long as calls are made, and then ends it.
static u64 end_child(u64 child, u64 patience) {
  u64 status = 0, got, before;
  do {
    before = load(counts);
    got = call(PROCESS_WAIT, child, now() + patience, 0, 0, 0, 0, &status);
  } while (is_error(got) && load(counts) != before);
  if (is_error(got)) {
    call(PROCESS_END, child, 9, 0, 0, 0, 0, 0);
    got = call(PROCESS_WAIT, child, -1ul, 0, 0, 0, 0, &status);
  }
  if (got != child)
    failed("another child: ", got, child);
  return status;
}

// Ends the machine if for 2 s the witness or the first thread has not gone on.
static void watch(u64 frequency) {
  call(THREAD_PLACE, call1(THREAD_SELF, 0), witness_harts, 0, 0, 0, 0, 0);
  u64 before[WITNESSES + 1] = {0};
  for (;;) {
    call1(THREAD_SLEEP, now() + 2 * frequency);
    for (int n = 0; n <= WITNESSES; n++) {
      u64 rounds = n < WITNESSES ? load(&witness->told[n].rounds) : load(&parent_rounds);
      if (rounds == before[n]) {
        print("no progress of ", n, "\n");
        call(PROCESS_END, 0, 5, 0, 0, 0, 0, 0);
      }
      before[n] = rounds;
    }
  }
}

static u64 word_at(const char **words, u64 otherwise, struct program_start *start) {
  u64 used = *words - (const char *)start->text;
  if (used >= start->size)
    return otherwise;
  u64 value = decimal(*words);
  *words += length(*words) + 1;
  return value;
}
#endif

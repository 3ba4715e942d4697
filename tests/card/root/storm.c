// 10,000 capabilities are derived from one, in a row, beside each other, and as a tree. That one is
// revoked while threads use them: a call that begins behind it has no success, and nobody waits for
// the kernel for long.
#include <flick/card.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { DERIVED = 10000, USERS = 2, ROUNDS = 3 };

static uint64_t capabilities[DERIVED];
static volatile uint64_t is_revoked, ends;

static uint64_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

struct user {
  uint64_t seed, used, late;
};

// Loads by one of them, and derives another one, which is revoked, too.
static void *use(void *argument) {
  struct user *user = argument;
  uint64_t state = user->seed;
  while (!ends) {
    uint64_t word, n = next(&state) % DERIVED, was_revoked = is_revoked;
    uint64_t number = capabilities[n];
    int64_t outcome = next(&state) % 2 ? flick_tile_load(number, 0, (uint64_t)&word, 8)
                                       : flick_capability_narrow(number, 0, 8, FLICK_READ);
    user->used += outcome >= 0;
    user->late += outcome >= 0 && was_revoked;
  }
  return NULL;
}

// How long another call takes at most.
static void *wait_for_kernel(void *argument) {
  uint64_t *longest = argument;
  while (!ends) {
    uint64_t begin = flick_time();
    flick_kernel_nothing();
    uint64_t took = flick_time() - begin;
    *longest = took > *longest ? took : *longest;
  }
  return NULL;
}

static uint64_t parent_of(uint64_t round, uint64_t n, uint64_t top, uint64_t *state) {
  if (round == 1 || n == 0)
    return top;
  return capabilities[round == 0 ? n - 1 : next(state) % n];
}

int main(void) {
  static const char *const shapes[ROUNDS] = {"in a row", "beside each other", "as a tree"};
  uint64_t endpoints, state = 88172645463325252;
  int64_t dram = flick_tile_find(0, 0, 0, &endpoints);
  for (uint64_t round = 0; round < ROUNDS; round++) {
    int64_t top = flick_tile_memory(dram, 4096);
    uint64_t derived = 0, longest = 0;
    for (; derived < DERIVED; derived++) {
      int64_t number = flick_capability_narrow(parent_of(round, derived, top, &state), 0, 4096,
                                               FLICK_READ | FLICK_WRITE);
      if (number < 0)
        break;
      capabilities[derived] = number;
    }
    is_revoked = ends = 0;
    struct user users[USERS];
    pthread_t threads[USERS + 1];
    for (int n = 0; n < USERS; n++) {
      users[n] = (struct user){.seed = round * USERS + n + 1};
      pthread_create(&threads[n], NULL, use, &users[n]);
    }
    pthread_create(&threads[USERS], NULL, wait_for_kernel, &longest);
    flick_thread_sleep(flick_time() + flick_program.frequency / 1000);
    int64_t revoked = flick_capability_revoke(top);
    is_revoked = 1;
    flick_thread_sleep(flick_time() + flick_program.frequency / 1000);
    ends = 1;
    uint64_t used = 0, late = 0;
    for (int n = 0; n <= USERS; n++)
      pthread_join(threads[n], NULL);
    for (int n = 0; n < USERS; n++) {
      used += users[n].used;
      late += users[n].late;
    }
    uint64_t us = longest * 1000000 / flick_program.frequency;
    printf("%lu %s: revoked %ld, used %d, used behind that %lu, waits of others %s\n",
           (unsigned long)derived, shapes[round], (long)revoked, used > 0, (unsigned long)late,
           us < 10000 ? "under 10 ms" : "LONG");
  }
  return 0;
}

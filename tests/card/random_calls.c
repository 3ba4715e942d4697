// Random kernel calls: any number, any argument, any order, by several threads of several
// processes. The kernel must neither fail nor lose memory, and no child may change its parent's
// memory. Arguments: the first seed, how many seeds, calls of each thread.
#include "bare_card.h"

static u64 calls_left;
static char stacks[8][2048] __attribute__((aligned(16)));
static char scratch[8192] __attribute__((aligned(4096)));
static volatile u64 witness[64];

static u64 next(u64 *state) {
  u64 x = *state;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return *state = x;
}

static const unsigned char usual[] = {16, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 32, 33,
                                      34, 35, 40, 41, 42, 43, 44, 46, 57, 58, 59, 0,  1,  2};

static void fuzz(u64 seed);

static u64 argument(u64 *state) {
  u64 kind = next(state) % 16, value = next(state);
  switch (kind) {
  case 0:
    return 0;
  case 1:
    return value % 16;
  case 2:
    return -(value % 8);
  case 3:
    return value;
  case 4:
    return (u64)scratch + value % sizeof scratch;
  case 5:
    return (u64)scratch + (value % sizeof scratch & ~7ul);
  case 6:
    return (u64)fuzz;
  case 7:
    return (u64)stacks[value % 8] + 2048;
  case 8:
    return value % 300 | (value >> 20) % 4 << 16;
  case 9:
    return 0x1000000000 + (value % 64 << 12);
  case 10:
    return value % 64 << 12;
  case 11:
    return now() + value % 2000;
  case 12:
    return 1ul << value % 64;
  case 13:
    return (value % 32) | (value >> 20) % 4 << 16;
  case 14:
    return 0x80000000 + value % (1 << 20);
  default:
    return value % 4096;
  }
}

static void fuzz(u64 seed) {
  u64 state = seed * 2654435761 + 88172645463325252 + hart();
  while (__atomic_sub_fetch(&calls_left, 1, __ATOMIC_RELAXED) < 1ul << 40) {
    u64 what = next(&state), number = usual[what % sizeof usual];
    if (what % 512 == 1)
      number = what >> 32 & 1 ? THREAD_EXIT : PROCESS_END;
    if (what % 512 == 2)
      number = what >> 40;
    u64 a[6];
    for (int n = 0; n < 6; n++)
      a[n] = argument(&state);
    // A stack of its own, mostly: a shared one ends the process soon.
    if (number == THREAD_CREATE && what >> 50 & 3)
      a[0] = (u64)fuzz, a[2] = (u64)stacks[(what >> 20) % 8] + 2048, a[4] %= 8;
    if (number == PROCESS_END && a[0] == 0)
      a[1] %= 256;
    u64 second;
    call(number, a[0], a[1], a[2], a[3], a[4], a[5], &second);
  }
  call1(THREAD_EXIT, 3);
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  const char *words = (const char *)start->text;
  u64 first = 1, count = 20, calls = 300;
  words += length(words) + 1;
  if (start->arguments > 3) {
    first = decimal(words);
    words += length(words) + 1;
    count = decimal(words);
    words += length(words) + 1;
    calls = decimal(words);
  }
  for (int n = 0; n < 64; n++)
    witness[n] = n * 7;
  // Pages of the program are taken at their first access: all of them, before anything is counted.
  for (u64 n = 0; n < sizeof scratch; n += 4096)
    scratch[n] = 1;
  for (int n = 0; n < 8; n++)
    stacks[n][0] = 1;
  u64 free_before = 0, done = 0;
  for (u64 seed = first; seed < first + count; seed++) {
    calls_left = calls;
    u64 child = call(PROCESS_COPY, 0, 0, 0, 0, 0, 0, 0);
    if (is_error(child)) {
      print("no process: ", child, "\n");
      call1(THREAD_EXIT, 1);
    }
    call(PROCESS_START, child, (u64)fuzz, (u64)stacks[7] + 2048, seed, 0, 0, 0);
    u64 status = 0;
    u64 got = call(PROCESS_WAIT, child, now() + start->frequency / 10, 0, 0, 0, 0, &status);
    if (is_error(got)) {
      call(PROCESS_END, child, 9, 0, 0, 0, 0, 0);
      got = call(PROCESS_WAIT, child, -1ul, 0, 0, 0, 0, &status);
    }
    if (got != child)
      print("another child: ", got, "\n");
    done++;
    for (int n = 0; n < 64; n++)
      if (witness[n] != n * 7ul) {
        print("memory has changed, seed ", seed, "\n");
        call1(THREAD_EXIT, 2);
      }
    u64 all, left = call(MEMORY_FREE, 0, 0, 0, 0, 0, 0, &all);
    // Registers of threads take pages that the kernel keeps: 37 for the most threads at once.
    if (seed == first)
      free_before = left;
    if (left + 40 < free_before) {
      print("pages are lost: ", free_before - left, "\n");
      call1(THREAD_EXIT, 4);
    }
  }
  print("", done, " processes\n");
  call1(THREAD_EXIT, 0);
}

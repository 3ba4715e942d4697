// FLICK_NXP_DATA_ON puts variables of several files and of a library into the memory of a tile:
// with values, zero, constant, static, in functions. Both kinds of code and both tiles use them. A
// tile that no machine has: they are the first one's.
// CARD: card-two
// STEP: cc -shared -o liblibrary.so library.c
// STEP: link main.c other.c -L. -llibrary -Wl,-rpath,.
// SKIP-MODE: static a static program has no shared library
// OUT: tiles 1 1 1 1 1 1 1
// OUT: first 1 1, of none 1
// OUT: values 10 2 0 7 1234
// OUT: worked 30 6 100 1239
// OUT: calls 1 2 3
// OUT: child 1 1
#include "data.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

ON_STORAGE static long table[3] = {1, 2, 7};
ON_STORAGE static long zero[5000];
ON_COMPUTE static const int fixed[2] = {4, 1234};
ON_COMPUTE int shared[4] = {10, 20};
FLICK_NXP_DATA static int plain = 5;
FLICK_NXP_DATA_ON("no-such tile") static int nowhere = 6;
static int ordinary;

static int on_card;
static int is_of(const void *memory, const char *tile) {
  const char *of = flick_tile_of(memory);
  return on_card ? of != NULL && strcmp(of, tile) == 0 : of == NULL;
}

__attribute__((noinline)) FLICK_NXP_ON("compute") static long work_there(void) {
  shared[0] *= 3;
  return fixed[1] + plain;
}

__attribute__((noinline)) FLICK_NXP_ON("storage") static long work(void) {
  for (int i = 0; i < 5000; i++)
    zero[i] += table[i % 3] * 10;
  table[1] *= 3;
  return work_there();
}

FLICK_NXP static int count(void) {
  ON_COMPUTE static int calls;
  return ++calls;
}

int main(void) {
  const char *backend = getenv("FLICK_BACKEND");
  on_card = backend != NULL && strcmp(backend, "card") == 0;
  printf("tiles %d %d %d %d %d %d %d\n", is_of(table, "storage"), is_of(&zero[4999], "storage"),
         is_of(fixed, "compute"), is_of(&shared[3], "compute"), is_of(&counters[2], "compute"),
         is_of(&in_library[999], "compute"), is_of(statics_of_library(), "storage"));
  printf("first %d %d, of none %d\n", is_of(&plain, "storage"), is_of(&nowhere, "storage"),
         flick_tile_of(&ordinary) == NULL);
  printf("values %d %ld %ld %ld %d\n", shared[0], table[1], zero[3], table[2], fixed[1]);
  long sum = work();
  printf("worked %d %ld %ld %ld\n", shared[0], table[1], zero[4999] * 5, sum);
  int calls[3];
  for (int i = 0; i < 3; i++)
    calls[i] = count();
  printf("calls %d %d %d\n", calls[0], calls[1], calls[2]);
  fflush(stdout);
  if (fork() == 0)
    _exit(!(is_of(shared, "compute") && work() == sum && shared[0] == 90));
  int status = -1;
  wait(&status);
  printf("child %d %d\n", WIFEXITED(status) && WEXITSTATUS(status) == 0, shared[0] == 30);
  return 0;
}

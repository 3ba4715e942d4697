// Small helpers that call small helpers run where they are called, so that NxP code does not cross
// for them; a helper that calls the host crosses once.
// OUT: 4032 32 4032
// CROSSINGS: host-to-nxp=2 nxp-to-host=32
#include <flick.h>
#include <stdio.h>
#include <string.h>

static unsigned load(const void *at) {
  unsigned value;
  memcpy(&value, at, sizeof value);
  return value;
}
static unsigned mix(unsigned x) { return x * 2654435761U >> 16; }
static unsigned hash(const void *at) { return mix(load(at)); }
static int same(const void *a, const void *b) { return hash(a) == hash(b) && load(a) == load(b); }
static int calls;
FLICK_HOST static void note(void) { calls++; }
__attribute__((noinline)) static int noted(const void *a, const void *b) {
  note();
  return same(a, b);
}

FLICK_NXP static int count(const unsigned *words, int n) {
  int equal = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      equal += i != j && same(words + i, words + j);
  return equal;
}
FLICK_NXP static int count_noted(const unsigned *words, int n) {
  int equal = 0;
  for (int i = 0; i < n; i++)
    equal += noted(words + i, words + i);
  return equal;
}

int main(void) {
  unsigned words[64];
  for (int i = 0; i < 64; i++)
    words[i] = 7;
  int equal = count(words, 64), noticed = count_noted(words, 32);
  printf("%d %d ", equal, calls);
  for (int i = equal = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      equal += i != j && same(words + i, words + j);
  printf("%d\n", noticed == 32 ? equal : noticed);
}

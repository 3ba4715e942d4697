/* A function with vectors, and one with an instruction of Zba: each hart of a card has its own
 * instructions in a timed run, too. tests/timing/card_isa.sh runs it. */
#include <flick.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define COUNT 4096
#define ALONE __attribute__((noinline))

FLICK_NXP_DATA static float numbers[COUNT];
FLICK_NXP_DATA static uint64_t nodes[COUNT];

FLICK_NXP ALONE static void vectors(float *to, int times) {
  for (int n = 0; n < times; n++)
    for (int i = 0; i < COUNT; i++)
      to[i] = to[i] * 0.5f + 1.0f;
}

FLICK_NXP ALONE static uint64_t address(const uint64_t *from, int times) {
  uint64_t at = 0;
  for (int n = 0; n < times * COUNT; n++)
    at = from[at];
  return at;
}

static uint64_t now(void) {
  struct flick_prediction prediction;
  return flick_predict(&prediction) == 0 ? prediction.migrating_ps : 0;
}

int main(int argc, char **argv) {
  int has_vectors = argc > 1 && strcmp(argv[1], "vectors") == 0;
  for (uint64_t i = 0; i < COUNT; i++)
    nodes[i] = (i + 1021) % COUNT;
  uint64_t times[3], sum = 0;
  for (int i = 0; i < 3; i++) {
    uint64_t begin = now();
    if (has_vectors)
      vectors(numbers, 1 + (i == 2) * 8);
    else
      sum += address(nodes, 1 + (i == 2) * 8);
    times[i] = now() - begin;
  }
  printf("first %llu\nwork %llu\n", (unsigned long long)times[0],
         (unsigned long long)(times[2] - times[1]));
  return sum + (uint64_t)numbers[0] == UINT64_MAX;
}

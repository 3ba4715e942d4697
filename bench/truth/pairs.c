/* Tasks in two versions each, which execute the same instructions: one has its data in the nearest
 * caches, and one has them in memory. `flick bench truth` compares the predicted ratio of both with
 * the real one.
 *
 *   pairs NAME near|far */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEAR = 1 << 11, FAR = 1 << 23 };

static uint64_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static void *room(size_t bytes) {
  void *at = malloc(bytes);
  if (!at)
    exit(2);
  return at;
}

/* Words in order. */
static uint64_t stream(size_t n) {
  uint32_t *words = room(n * sizeof *words);
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++)
    words[i] = (uint32_t)(i * 2654435761u);
  for (size_t round = 0; round < 24 * (size_t)FAR / n; round++)
    for (size_t i = 0; i < n; i++)
      sum += words[i] ^ round;
  free(words);
  return sum;
}

/* Words anywhere, whose addresses are computed. */
static uint64_t gather(size_t n) {
  uint32_t *words = room(n * sizeof *words);
  uint64_t sum = 0, state = 88172645463325252u;
  for (size_t i = 0; i < n; i++)
    words[i] = (uint32_t)i;
  for (size_t i = 0; i < 3 * (size_t)FAR; i++)
    sum += words[next(&state) & (n - 1)];
  free(words);
  return sum;
}

/* A list whose elements are in a random order. */
static uint64_t chase(size_t n) {
  uint64_t state = 88172645463325252u, sum = 0;
  uint32_t *to = room(n * sizeof *to), at = 0;
  for (size_t i = 0; i < n; i++)
    to[i] = (uint32_t)i;
  for (size_t i = n - 1; i; i--) {
    size_t j = next(&state) % i;
    uint32_t kept = to[i];
    to[i] = to[j];
    to[j] = kept;
  }
  for (size_t i = 0; i < (size_t)FAR / 2; i++)
    sum += at = to[at];
  free(to);
  return sum;
}

/* A table that is filled and asked, with chains of entries. */
struct entry {
  uint64_t key, value;
  uint32_t next;
};

static uint64_t join(size_t n) {
  n /= 8;
  uint32_t *heads = room(n * sizeof *heads);
  struct entry *entries = room(n * sizeof *entries);
  uint64_t state = 88172645463325252u, sum = 0;
  memset(heads, 0xff, n * sizeof *heads);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t key = i * 0x9e3779b97f4a7c15u;
    uint32_t *head = &heads[key >> 40 & (n - 1)];
    entries[i] = (struct entry){key, i, *head};
    *head = i;
  }
  for (size_t i = 0; i < (size_t)FAR / 3; i++) {
    uint64_t key = (next(&state) % n) * 0x9e3779b97f4a7c15u;
    for (uint32_t at = heads[key >> 40 & (n - 1)]; at != UINT32_MAX; at = entries[at].next)
      if (entries[at].key == key)
        sum += entries[at].value;
  }
  free(heads);
  free(entries);
  return sum;
}

/* Increments anywhere. */
static uint64_t histogram(size_t n) {
  uint32_t *counts = room(n * sizeof *counts);
  uint64_t state = 88172645463325252u, sum = 0;
  memset(counts, 0, n * sizeof *counts);
  for (size_t i = 0; i < 2 * (size_t)FAR; i++)
    counts[next(&state) & (n - 1)]++;
  for (size_t i = 0; i < n; i += 64)
    sum = sum * 31 + counts[i];
  free(counts);
  return sum;
}

/* A product of matrices by columns, whose side is the square root. */
static uint64_t columns(size_t n) {
  size_t side = n == NEAR ? 24 : 384, rounds = n == NEAR ? 4096 : 1;
  double *a = room(side * side * sizeof *a), *b = room(side * side * sizeof *b), sum = 0;
  for (size_t i = 0; i < side * side; i++) {
    a[i] = (double)(i % 17);
    b[i] = (double)(i % 13);
  }
  for (size_t round = 0; round < rounds; round++)
    for (size_t i = 0; i < side; i++)
      for (size_t j = 0; j < side; j++) {
        double part = (double)round;
        for (size_t k = 0; k < side; k++)
          part += a[i * side + k] * b[k * side + j];
        sum += part;
      }
  free(a);
  free(b);
  return (uint64_t)sum;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    uint64_t (*run)(size_t);
  } all[] = {{"stream", stream}, {"gather", gather},       {"chase", chase},
             {"join", join},     {"histogram", histogram}, {"columns", columns}};
  for (size_t i = 0; argc == 3 && i < sizeof all / sizeof *all; i++) {
    if (strcmp(argv[1], all[i].name))
      continue;
    printf("%llu\n", (unsigned long long)all[i].run(strcmp(argv[2], "far") ? NEAR : FAR));
    return 0;
  }
  fputs("use: pairs NAME near|far\n", stderr);
  return 2;
}

// Functions whose calls are requests to accelerators. What they do is the same without these.
#include "check.h"
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

enum { SIDE = 32, ROW = 64, POINTS = SIDE * SIDE * ROW, THREADS = 4, NUMBERS = 4096 };

static int bodies;

FLICK_ON("stencil")
void stencil(const int32_t weights[static 2], const int32_t grid[static POINTS],
             int32_t result[static POINTS]) {
  bodies++;
  memcpy(result, grid, POINTS * sizeof *grid);
  for (int plane = 1; plane < SIDE - 1; plane++)
    for (int row = 1; row < SIDE - 1; row++)
      for (int point = 1; point < ROW - 1; point++) {
        int at = (plane * SIDE + row) * ROW + point;
        uint32_t others = 0;
        for (int distance = 1; distance <= SIDE * ROW; distance *= distance == 1 ? ROW : SIDE)
          others += (uint32_t)grid[at - distance] + (uint32_t)grid[at + distance];
        result[at] = (uint32_t)grid[at] * weights[0] + others * weights[1];
      }
}

// Another unit could have a body.
FLICK_ON("vector-sum")
int add(const double *a, size_t a_bytes, const double *b, size_t b_bytes, double *sums,
        size_t sum_bytes);

FLICK_ON("vector-sum")
static int add_static(const double a[static 8], const double b[static 8], double sums[static 8]) {
  for (int n = 0; n < 8; n++)
    sums[n] = a[n] + b[n];
  return 0;
}

FLICK_ON("nothing") static int no_accelerator(char *bytes, unsigned size) {
  bytes[0] = size;
  return 7;
}

// Code of the NxP calls it, as any function of the host.
FLICK_NXP static int add_from_nxp(const double *a, const double *b, double *sums) {
  return add_static(a, b, sums);
}

static int is_on_card;

static void *add_many(void *first) {
  double a[NUMBERS + 1], b[NUMBERS], sums[NUMBERS];
  for (int times = 0; times < 3; times++) {
    for (int n = 0; n < NUMBERS; n++) {
      a[n + 1] = n + (intptr_t)first;
      b[n] = 0.5 * n;
    }
    int error = add(a + 1, sizeof b, b, sizeof b, sums, sizeof sums), bad = 0;
    expect(is_on_card ? !error : error == ENODEV, "the sum of vectors");
    for (int n = 0; n < NUMBERS; n++)
      bad += sums[n] != a[n + 1] + b[n];
    expect(!is_on_card || !bad, "its numbers");
  }
  return NULL;
}

int main(int argc, char **argv) {
  is_on_card = argc > 1 && !strcmp(argv[1], "card");
  static int32_t grid[POINTS + 1], result[POINTS + 3];
  const int32_t weights[2] = {3, -2};
  for (int n = 0; n <= POINTS; n++)
    grid[n] = n * 2654435761u;
  // At odd places, and what is beside stays.
  result[0] = result[POINTS + 1] = 77;
  stencil(weights, grid + 1, result + 1);
  uint32_t hash = 0;
  for (int n = 0; n < POINTS; n++)
    hash = hash * 31 + result[n + 1];
  expect(result[0] == 77 && result[POINTS + 1] == 77, "numbers beside the result");
  expect(bodies == !is_on_card, "how often the body was executed");

  double a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, sums[8] = {0};
  void (*pointer)(const int32_t *, const int32_t *, int32_t *) = stencil;
  expect(!add_static(a, a, sums) && sums[7] == 16, "a static function");
  expect(!add_from_nxp(a, sums, sums) && sums[7] == 24, "from the NxP, with an array twice");
  pointer(weights, grid + 1, result + 1);
  expect(bodies == 2 * !is_on_card, "a call through a pointer");
  char byte = 0;
  expect(no_accelerator(&byte, 1) == 7 && byte == 1, "a body for an accelerator that there is not");
  add_many(NULL);
  pthread_t threads[THREADS];
  for (intptr_t n = 0; n < THREADS; n++)
    pthread_create(&threads[n], NULL, add_many, (void *)n);
  for (int n = 0; n < THREADS; n++)
    pthread_join(threads[n], NULL);
  if (is_on_card) {
    expect(add(a, 64, a, 56, sums, 64) == EINVAL, "arrays of other sizes");
    expect(strstr(flick_error(), "by number and size") != NULL, "and why");
    double *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double *other = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(!add(page, 4096, page, 4096, other, 4096), "pages");
    expect(add(other, 4096, other, 4096, page, 4096) != 0, "sums that cannot be written");
    expect(add((double *)4096, 4096, page, 4096, other, 4096) != 0, "an array that is not there");
    expect(!add(page, 4096, page, 4096, other, 4096), "pages again");
  }
  printf("hash: %08x\n", hash);
  return conclude();
}

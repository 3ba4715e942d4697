// Loops that LLVM makes vector instructions of, with all kinds of elements, masks, strides, indices
// and reductions; lengths from nothing to several registers. Expects plain clang's results.
// CARD: card card-two
// FLICK-FLAGS: --nxp-march=rv64gcv -Xnxp=-O3
// CFLAGS: -ffp-contract=off
#include <flick.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 1031 };

#define NXP FLICK_NXP __attribute__((noinline))

NXP void copy(uint8_t *restrict to, const uint8_t *restrict from, long n) {
  for (long i = 0; i < n; i++)
    to[i] = from[i] ^ 0x5a;
}

NXP void saxpy(float *restrict y, const float *restrict x, float a, long n) {
  for (long i = 0; i < n; i++)
    y[i] += a * x[i];
}

NXP void scale(double *y, const int32_t *x, double a, long n) {
  for (long i = 0; i < n; i++)
    y[i] = x[i] / a;
}

NXP long dot(const int32_t *x, const int32_t *y, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++)
    sum += (long)x[i] * y[i];
  return sum;
}

NXP int16_t largest(const int16_t *x, long n) {
  int16_t most = INT16_MIN;
  for (long i = 0; i < n; i++)
    most = x[i] > most ? x[i] : most;
  return most;
}

NXP long under_mask(int64_t *x, const uint8_t *which, long n) {
  long count = 0;
  for (long i = 0; i < n; i++)
    if (which[i] & 1) {
      x[i] = x[i] * 3 + 1;
      count++;
    }
  return count;
}

NXP void gather(uint32_t *restrict to, const uint32_t *restrict from, const uint32_t *restrict at,
                long n) {
  for (long i = 0; i < n; i++)
    to[i] = from[at[i]] >> (i & 7);
}

struct pixel {
  uint8_t r, g, b;
};

NXP void grey(uint8_t *restrict to, const struct pixel *restrict from, long n) {
  for (long i = 0; i < n; i++)
    to[i] = (uint8_t)((from[i].r * 77 + from[i].g * 151 + from[i].b * 28) >> 8);
}

NXP long differences(const uint16_t *x, const uint16_t *y, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++)
    sum += x[i] > y[i] ? x[i] - y[i] : y[i] - x[i];
  return sum;
}

NXP void backwards(int32_t *restrict to, const int32_t *restrict from, long n) {
  for (long i = 0; i < n; i++)
    to[i] = from[n - 1 - i];
}

static uint64_t sum_of(const void *bytes, size_t size) {
  uint64_t sum = 0;
  for (size_t i = 0; i < size; i++)
    sum = sum * 1099511628211u + ((const uint8_t *)bytes)[i];
  return sum;
}

static uint8_t a[4 * MOST], b[4 * MOST], grey_of[MOST];
static float x[MOST], y[MOST];
static double d[MOST];
static int32_t p[MOST], q[MOST], r[MOST];
static int16_t h[MOST];
static int64_t w[MOST];
static uint32_t at[MOST], u[MOST];

int main(void) {
  static const long lengths[] = {0, 1, 2, 7, 16, 33, 64, 255, 256, 1000, MOST};
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
    long n = lengths[k];
    for (int i = 0; i < MOST; i++) {
      a[i] = a[i + MOST] = a[i + 2 * MOST] = (uint8_t)(i * 7 + k);
      x[i] = (float)i * 0.25f;
      y[i] = (float)(MOST - i);
      p[i] = i * 77 % 1013 - 500;
      q[i] = i * 31 % 997;
      h[i] = (int16_t)(i * 12345);
      w[i] = i * 1000003L;
      at[i] = (uint32_t)(i * 617 % (n + 1)) % MOST;
    }
    copy(b, a, n);
    saxpy(y, x, 3, n);
    scale(d, p, 7, n);
    gather(u, (const uint32_t *)p, at, n);
    grey(grey_of, (const struct pixel *)a, n);
    backwards(r, q, n);
    printf("%ld: %ld %d %ld %ld\n", n, dot(p, q, n), largest(h, n), under_mask(w, a, n),
           differences((const uint16_t *)a, (const uint16_t *)h, n));
    printf("%016lx %016lx %016lx %016lx\n", sum_of(b, sizeof b), sum_of(y, sizeof y),
           sum_of(d, sizeof d), sum_of(w, sizeof w));
    printf("%016lx %016lx %016lx\n", sum_of(u, sizeof u), sum_of(grey_of, sizeof grey_of),
           sum_of(r, sizeof r));
  }
}

// Over-aligned structs by value from functions with `alloca` and with arrays of variable length,
// where clang does not align the stack for them. Expects the callee to find its arguments.
#include <alloca.h>
#include <flick.h>
#include <stdio.h>
#include <string.h>

#define ALIGNED(N)                                                                                 \
  typedef struct {                                                                                 \
    _Alignas(N) int v[5];                                                                          \
  } to##N;                                                                                         \
  FLICK_NXP __attribute__((noinline)) static int nxp##N(int a, to##N x, long b, long c, long d,    \
                                                        long e, long f, long g, to##N y, int h) {  \
    x.v[1] += y.v[2];                                                                              \
    int *volatile last = &y.v[4];                                                                  \
    return a + (int)(b + c + d + e + f + g) + h + 10 * x.v[1] + 100 * *last;                       \
  }                                                                                                \
  FLICK_HOST __attribute__((noinline)) static void from_host##N(int n) {                           \
    char *room = alloca(n);                                                                        \
    memset(room, n, n);                                                                            \
    to##N x = {{1, 2, 3, 4, 5}}, y = {{n, n + 1, n + 2, n + 3, n + 4}};                            \
    printf(#N " %d: %d %d\n", n, nxp##N(n, x, 1, 2, 3, 4, 5, 6, y, 7), room[n - 1]);               \
  }                                                                                                \
  FLICK_HOST __attribute__((noinline)) static int host##N(long a, to##N x, long b, long c, long d, \
                                                          long e, long f, long g, to##N y) {       \
    return (int)(a + b + c + d + e + f + g) + x.v[1] * y.v[4];                                     \
  }                                                                                                \
  FLICK_NXP __attribute__((noinline)) static int from_nxp##N(int n) {                              \
    char room[n];                                                                                  \
    memset(room, n, n);                                                                            \
    to##N x = {{1, 2, 3, 4, 5}}, y = {{n, n + 1, n + 2, n + 3, n + 4}};                            \
    return host##N(n, x, 1, 2, 3, 4, 5, 6, y) + room[n - 1];                                       \
  }
ALIGNED(16)
ALIGNED(32)
ALIGNED(64)
ALIGNED(1024)

#define TRY(N)                                                                                     \
  for (int n = 1; n < 120; n += 17) {                                                              \
    from_host##N(n);                                                                               \
    printf("%d\n", from_nxp##N(n));                                                                \
  }

int main(void) {
  TRY(16)
  TRY(32)
  TRY(64)
  TRY(1024)
}

// Structs aligned to 16, 32, 64, 128 and 1024 bytes by value, among other stack arguments, in both
// directions. Expects the callee's object to be aligned as its type asks.
#include <flick.h>
#include <stdint.h>
#include <stdio.h>

#define ALIGNED(N)                                                                                 \
  typedef struct {                                                                                 \
    _Alignas(N) int v[3];                                                                          \
  } to##N;                                                                                         \
  FLICK_HOST static to##N host##N(int a, int b, int c, int d, int e, int f, int g, to##N x, int h, \
                                  to##N y, double i) {                                             \
    printf("host " #N " %d %d %d\n", (int)((uintptr_t)&x % N), (int)((uintptr_t)&y % N),           \
           a + b + c + d + e + f + g + h + (int)i);                                                \
    return (to##N){{x.v[0] + y.v[2], x.v[1] - y.v[1], x.v[2] * y.v[0]}};                           \
  }                                                                                                \
  FLICK_NXP static to##N nxp##N(int a, int b, int c, int d, int e, int f, int g, to##N x, int h,   \
                                to##N y, double i) {                                               \
    printf("nxp " #N " %d %d %d\n", (int)((uintptr_t)&x % N), (int)((uintptr_t)&y % N),            \
           a + b + c + d + e + f + g + h + (int)i);                                                \
    to##N (*volatile pointer)(int, int, int, int, int, int, int, to##N, int, to##N, double) =      \
        host##N;                                                                                   \
    y = pointer(g, f, e, d, c, b, a, x, h, y, i);                                                  \
    return host##N(1, 2, 3, 4, 5, 6, 7, y, 8, x, 9);                                               \
  }
ALIGNED(16)
ALIGNED(32)
ALIGNED(64)
ALIGNED(128)
ALIGNED(1024)

#define TRY(N)                                                                                     \
  {                                                                                                \
    to##N x = nxp##N(1, 2, 3, 4, 5, 6, 7, (to##N){{1, 2, 3}}, 8, (to##N){{4, 5, 6}}, 9.5);         \
    printf("%d %d %d\n", x.v[0], x.v[1], x.v[2]);                                                  \
  }

int main(void) {
  TRY(16)
  TRY(32)
  TRY(64)
  TRY(128)
  TRY(1024)
}

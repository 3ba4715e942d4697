// A translation unit of some four hundred small functions made by macros, half of them on the NxP,
// calling each other by name and through tables.
// OUT: 50 3431328838 507547 885250 63050
#include <flick.h>
#include <stdio.h>

/* clang-format off */
#define ONE(mark, side, n, next_side, next)                                                        \
  mark static unsigned side##n(unsigned x) {                                                       \
    return x % 3 ? x * 3 + n : next_side##next(x / 3 + n);                                         \
  }
#define PAIR(n, next)                                                                              \
  ONE(FLICK_NXP, nxp_, n, host_, next)                                                             \
  ONE(FLICK_HOST, host_, n, nxp_, next)
#define TEN(t, next)                                                                               \
  PAIR(t##9, next)                                                                                 \
  PAIR(t##8, t##9)                                                                                 \
  PAIR(t##7, t##8) PAIR(t##6, t##7) PAIR(t##5, t##6) PAIR(t##4, t##5) PAIR(t##3, t##4)             \
      PAIR(t##2, t##3) PAIR(t##1, t##2) PAIR(t##0, t##1)
#define ROW(t)                                                                                     \
  nxp_##t##0, host_##t##1, nxp_##t##2, host_##t##3, nxp_##t##4, host_##t##5, nxp_##t##6,           \
      host_##t##7, nxp_##t##8, host_##t##9
/* clang-format on */

FLICK_NXP static unsigned nxp_1999(unsigned x) { return x + 1; }
FLICK_HOST static unsigned host_1999(unsigned x) { return x + 2; }
TEN(119, 1999)
TEN(118, 1190)
TEN(117, 1180)
TEN(116, 1170)
TEN(115, 1160)
TEN(114, 1150)
TEN(113, 1140)
TEN(112, 1130)
TEN(111, 1120)
TEN(110, 1110)
TEN(109, 1100)
TEN(108, 1090)
TEN(107, 1080)
TEN(106, 1070)
TEN(105, 1060)
TEN(104, 1050)
TEN(103, 1040)
TEN(102, 1030)
TEN(101, 1020)
TEN(100, 1010)

static unsigned (*const table[])(unsigned) = {ROW(100), ROW(105), ROW(110), ROW(115), ROW(119)};
enum { COUNT = sizeof table / sizeof *table };

FLICK_NXP static unsigned walk(unsigned x) {
  for (int i = 0; i < COUNT; i++)
    x = table[i](x) % 1000003 + host_1000(x % 2187) + nxp_1005(x % 729);
  return x;
}

int main(void) {
  unsigned x = 0;
  for (unsigned i = 0; i < COUNT; i++)
    x = x * 7 + table[i](i * 81);
  printf("%d %u %u %u %u\n", COUNT, x, walk(1), walk(6561), nxp_1000(59049));
}

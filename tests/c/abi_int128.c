// __int128 as argument and result in both directions: in registers, on the stack (16-byte aligned,
// with arguments of other kinds around it), and in structs.
#include <flick.h>
#include <stdio.h>

typedef __int128 wide;
typedef struct {
  wide v;
} boxed;
typedef struct {
  char c;
  wide v;
} mixed;

static void show(const char *what, wide x) {
  printf("%s %016lx%016lx\n", what, (unsigned long)(x >> 64), (unsigned long)x);
}

FLICK_HOST static wide host(wide a, int k, wide b) { return a * k - b; }
FLICK_NXP static wide nxp(int k, wide a, wide b) {
  wide (*volatile pointer)(wide, int, wide) = host;
  return host(a, k, b) + pointer(b, k + 1, a) / 7;
}

#define LATE long a, long b, long c, long d, long e, wide x, double f, char g, wide y, int h
#define SUM (x - y * (a + b + c + d + e) + (wide)f * g - h)
FLICK_HOST static wide host_late(LATE) { return SUM; }
FLICK_NXP static wide nxp_late(LATE) {
  wide (*volatile pointer)(LATE) = host_late;
  show("host", pointer(e, d, c, b, a, y, f + 1, (char)h, x, g));
  return SUM;
}

FLICK_HOST static boxed host_boxed(boxed x, mixed y) { return (boxed){x.v - y.v * y.c}; }
FLICK_NXP static mixed nxp_boxed(boxed x, mixed y) {
  boxed z = host_boxed(x, y);
  return (mixed){(char)(y.c + 1), z.v ^ x.v};
}

int main(void) {
  wide (*volatile pointer)(LATE) = nxp_late;
  wide big = ((wide)0x0123456789abcdef << 64) + 0x7edcba9876543210, small = -((wide)5 << 70) - 3;
  show("registers", nxp(3, big, small));
  show("late", nxp_late(1, 2, 3, 4, 5, big, 6.5, 7, small, 8));
  show("pointer", pointer(-1, 2, -3, 4, -5, small, -6.5, -7, big, -8));
  mixed m = nxp_boxed((boxed){big}, (mixed){9, small});
  show("boxed", m.v);
  printf("%d\n", m.c);
}

// Structs that fit one register, of chars, shorts, ints, a float, a double, a pointer, a union, by
// value in both directions.
// OUT: 8 250 255
// OUT: 32767 -300 -1
// OUT: 21 10
// OUT: -1 2.5
// OUT: 3 tail 0x1ddccbbaa998877
#include <flick.h>
#include <stdio.h>

typedef struct {
  unsigned char r, g, b;
} color;
typedef struct {
  short x, y, z;
} cell;
typedef struct {
  int a, b;
} ints;
typedef struct {
  int n;
  float f;
} numbered;
typedef struct {
  double d;
} boxed;
typedef struct {
  const char *s;
} text;
typedef union {
  long l;
  unsigned char c[8];
} bytes;

FLICK_HOST static color host_color(color c) { return (color){c.b, c.r, c.g}; }
FLICK_HOST static ints host_ints(ints i) { return (ints){i.b, -i.a}; }
FLICK_HOST static boxed host_box(boxed b) { return (boxed){b.d * 2}; }
FLICK_HOST static bytes host_bytes(bytes b) { return (bytes){.l = ~b.l}; }

FLICK_NXP static color nxp_color(color c) {
  c = host_color(c);
  return (color){(unsigned char)(c.r + 1), c.g, c.b};
}
FLICK_NXP static cell nxp_cell(cell c) { return (cell){c.z, (short)-c.y, c.x}; }
FLICK_NXP static ints nxp_ints(ints i) { return host_ints((ints){i.a * 2, i.b * 3}); }
FLICK_NXP static numbered nxp_numbered(numbered n) { return (numbered){n.n + 1, n.f * 2}; }
FLICK_NXP static boxed nxp_box(boxed b) { return (boxed){host_box(b).d + 0.5}; }
FLICK_NXP static text nxp_text(text t) { return (text){t.s + 2}; }
FLICK_NXP static bytes nxp_bytes(bytes b) {
  b = host_bytes(b);
  b.c[7] = 1;
  return b;
}

int main(void) {
  color c = nxp_color((color){250, 255, 7});
  cell e = nxp_cell((cell){-1, 300, 32767});
  ints i = nxp_ints((ints){-5, 7});
  numbered n = nxp_numbered((numbered){-2, 1.25f});
  printf("%d %d %d\n", c.r, c.g, c.b);
  printf("%d %d %d\n", e.x, e.y, e.z);
  printf("%d %d\n", i.a, i.b);
  printf("%d %g\n", n.n, (double)n.f);
  printf("%g %s %#lx\n", nxp_box((boxed){1.25}).d, nxp_text((text){"xxtail"}).s,
         nxp_bytes((bytes){.l = 0x1122334455667788}).l);
}

// Host functions leave what they like above a narrow result, and the optimiser finds which one a
// pointer means.
// OUT: 1 0
// OUT: -7 201
// OUT: -700 65000
#include <flick.h>
#include <stdio.h>

#define LEFT_OVER "movl $0x76543210, %%eax\n\t"
FLICK_HOST __attribute__((noinline)) static _Bool less(int a, int b) {
  char r;
  __asm__(LEFT_OVER "cmp %2, %1\n\tsetl %%al" : "=&a"(r) : "r"(a), "r"(b) : "cc");
  return r;
}
FLICK_HOST __attribute__((noinline)) static signed char minus(int a) {
  signed char r;
  __asm__(LEFT_OVER "movb %b1, %%al\n\tnegb %%al" : "=&a"(r) : "r"(a) : "cc");
  return r;
}
FLICK_HOST __attribute__((noinline)) static unsigned char byte(int a) {
  unsigned char r;
  __asm__(LEFT_OVER "movb %b1, %%al" : "=&a"(r) : "r"(a));
  return r;
}
FLICK_HOST __attribute__((noinline)) static short minus_short(int a) {
  short r;
  __asm__(LEFT_OVER "movw %w1, %%ax\n\tnegw %%ax" : "=&a"(r) : "r"(a) : "cc");
  return r;
}
FLICK_HOST __attribute__((noinline)) static unsigned short two_bytes(int a) {
  unsigned short r;
  __asm__(LEFT_OVER "movw %w1, %%ax" : "=&a"(r) : "r"(a));
  return r;
}

typedef _Bool compare(int, int);
static inline int choose(compare *by, int a, int b) { return by(a, b) ? 1 : 0; }
typedef signed char change(int);
static inline int changed(change *by, int a) { return by(a); }
typedef unsigned char cut(int);
static inline int cut_by(cut *by, int a) { return by(a); }
typedef short change_short(int);
static inline int changed_short(change_short *by, int a) { return by(a); }
typedef unsigned short cut_short(int);
static inline int cut_short_by(cut_short *by, int a) { return by(a); }

FLICK_NXP __attribute__((noinline)) static void on_nxp(int *r, int a, int b) {
  r[0] = choose(less, a, b);
  r[1] = choose(less, b, a);
  r[2] = changed(minus, 7);
  r[3] = cut_by(byte, 200 + a);
  r[4] = changed_short(minus_short, 700);
  r[5] = cut_short_by(two_bytes, 64999 + a);
}

int main(void) {
  int r[6];
  on_nxp(r, 1, 2);
  printf("%d %d\n%d %d\n%d %d\n", r[0], r[1], r[2], r[3], r[4], r[5]);
  return 0;
}

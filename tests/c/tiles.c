// Functions of two tiles call each other and the host: by name, through pointers, in a recursion,
// with signatures of all kinds, and over longjmp. On a card each runs on its tile; inline all are
// one NxP.
// CARD: card-two
// OUT: direct 31 pointer 31 inlined 12 plain 8
// OUT: deep 80200 host 400
// OUT: same address 1 1
// OUT: 3.5 7.25 -2 9.75 600000 -5 abc
// OUT: sum 28 of dots 10
// OUT: jumped 17 from 40
// OUT: statics 5 6 7
#include <flick.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#define ON_STORAGE FLICK_NXP_ON("storage")
#define ON_COMPUTE FLICK_NXP_ON("compute")
#define ALONE __attribute__((noinline))

typedef long Function(long);

// By name and through a pointer; `twice` is inlined into functions of its own tile alone.
ON_COMPUTE static long twice(long x) { return 2 * x; }
ON_COMPUTE ALONE long triple(long x) { return twice(x) + x; }
ON_STORAGE ALONE long direct(long x) { return triple(x) + 1; }
ON_STORAGE ALONE long pointer(Function *f, long x) { return f(x) + 1; }
ON_STORAGE ALONE long calls_small(long x) { return twice(x) + twice(x - 2); }
FLICK_NXP ALONE long plain(long x) { return twice(x) + calls_small(2) - 4; }

// A recursion through three places.
static int host_calls;
long down_storage(long n);
ALONE static long through_host(long n) {
  host_calls++;
  return down_storage(n);
}
ON_COMPUTE ALONE long down_compute(long n) { return n <= 0 ? 0 : n + through_host(n - 1); }
ON_STORAGE ALONE long down_storage(long n) { return n <= 0 ? 0 : n + down_compute(n - 1); }

// A function has one address, on each side.
ON_COMPUTE ALONE int is_triple(Function *f) { return f == triple; }
ON_STORAGE ALONE int is_triple_there(Function *f) { return f == triple; }
ON_STORAGE ALONE Function *address(void) { return triple; }

// Signatures.
struct Pair {
  float x;
  double y;
};
struct Large {
  long all[5];
};
ON_COMPUTE ALONE float half(float x) { return x / 2; }
ON_COMPUTE ALONE struct Pair swap(struct Pair p) { return (struct Pair){(float)p.y, p.x}; }
ON_COMPUTE ALONE struct Large scaled(struct Large l, int by) {
  for (int i = 0; i < 5; i++)
    l.all[i] *= by;
  return l;
}
ON_COMPUTE ALONE int many(int a, long b, short c, char d, int e, int f, int g, int h,
                          const char *i) {
  return a + (int)b + c + d + e + f + g + h == 36 ? i[0] : 0;
}
ON_COMPUTE ALONE signed char narrow(int x) { return (signed char)x; }
ON_COMPUTE ALONE __int128 wide(__int128 x) { return x * x; }
ON_STORAGE ALONE void signatures(double *out, long *ints, char *text) {
  out[0] = (double)half(7);
  struct Pair p = swap((struct Pair){-2, 7.25});
  out[1] = (double)p.x;
  out[2] = p.y;
  out[3] = (double)(half(19.5f));
  struct Large l = scaled((struct Large){{1, 2, 3, 4, 100}}, 6000);
  ints[0] = l.all[4];
  ints[1] = narrow(251);
  text[0] = (char)many(1, 2, 3, 4, 5, 6, 7, 8, "a");
  text[1] = (char)(wide((__int128)7 << 32) >> 64 == 49 ? 'b' : '?');
}
ON_COMPUTE ALONE long add_all(int n, ...) {
  va_list all;
  long sum = 0;
  va_start(all, n);
  for (int i = 0; i < n; i++)
    sum += va_arg(all, int);
  va_end(all);
  return sum;
}
ON_STORAGE ALONE long dots(void) { return add_all(7, 1, 2, 3, 4, 5, 6, 7); }

// longjmp over activations of both tiles.
static jmp_buf back;
long zig(long n);
ON_COMPUTE ALONE long zag(long n) { return n == 0 ? (longjmp(back, 17), 0) : 1 + zig(n - 1); }
ON_STORAGE ALONE long zig(long n) { return n == 0 ? (longjmp(back, 18), 0) : 1 + zag(n - 1); }
ON_STORAGE ALONE int jump(long n, volatile long *kept) {
  *kept = n;
  int how = setjmp(back);
  if (how != 0)
    return how;
  return (int)zag(n);
}

// Static variables are everybody's.
ON_COMPUTE ALONE static int count_compute(int *n) { return ++*n; }
ON_STORAGE ALONE int count(void) {
  static int n = 4;
  return count_compute(&n);
}

int main(void) {
  printf("direct %ld pointer %ld inlined %ld plain %ld\n", direct(10), pointer(triple, 10),
         calls_small(4), plain(4));
  long deep = down_storage(400);
  printf("deep %ld host %d\n", deep, host_calls * 2);
  printf("same address %d %d\n", is_triple(address()), is_triple_there(triple));
  double out[4];
  long ints[2];
  char text[4] = "??c";
  signatures(out, ints, text);
  printf("%g %g %g %g %ld %ld %s\n", out[0], out[1], out[2], out[3], ints[0], ints[1], text);
  printf("sum %ld of dots %ld\n", dots(), add_all(4, 1, 2, 3, 4));
  volatile long kept = 0;
  int how = jump(40, &kept);
  printf("jumped %d from %ld\n", how, kept);
  int first = count(), second = count();
  printf("statics %d %d %d\n", first, second, count());
  return 0;
}

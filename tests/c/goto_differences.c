// Interpreters whose tables hold distances of labels from one label, in 1, 2, 4 and 8 bytes. What
// they work on is in registers of arguments throughout, and is read at some labels only.
#include <flick.h>
#include <stdio.h>

#define INTERPRETER(name, type)                                                                    \
  FLICK_NXP __attribute__((noinline)) static long name(const unsigned char *pc, long n, long a,    \
                                                       double x) {                                 \
    static const type table[] = {&&inc - &&inc,  &&dbl - &&inc, &&dec - &&inc,                     \
                                 &&loop - &&inc, &&end - &&inc, &&half - &&inc};                   \
    const unsigned char *start = pc;                                                               \
    long sum = 0;                                                                                  \
    goto *(&&inc + table[*pc++]);                                                                  \
  inc:                                                                                             \
    sum += a;                                                                                      \
    goto *(&&inc + table[*pc++]);                                                                  \
  dbl:                                                                                             \
    sum *= 3;                                                                                      \
    goto *(&&inc + table[*pc++]);                                                                  \
  dec:                                                                                             \
    sum -= 1;                                                                                      \
    goto *(&&inc + table[*pc++]);                                                                  \
  half:                                                                                            \
    x *= 0.5;                                                                                      \
    goto *(&&inc + table[*pc++]);                                                                  \
  loop:                                                                                            \
    sum &= 0xffffffff;                                                                             \
    if (--n)                                                                                       \
      pc = start;                                                                                  \
    goto *(&&inc + table[*pc++]);                                                                  \
  end:                                                                                             \
    return sum + (x > 0 ? 1 : 0);                                                                  \
  }

// Few labels, so near that a byte holds the distance.
FLICK_NXP __attribute__((noinline)) static long by_char(const unsigned char *pc, long a, long b) {
  static const signed char table[] = {&&one - &&one, &&other - &&one, &&end - &&one};
next:
  goto *(&&one + table[*pc++]);
one:
  a += b;
  goto next;
other:
  b ^= a;
  goto next;
end:
  return a ^ b;
}

INTERPRETER(by_short, short)
INTERPRETER(by_int, int)
INTERPRETER(by_long, long)

int main(void) {
  const unsigned char p[] = {0, 1, 2, 5, 0, 3, 4};
  unsigned char tiny[301];
  for (int i = 0; i < 300; i++)
    tiny[i] = i % 3 == 0;
  tiny[300] = 2;
  printf("%ld %ld %ld %ld\n", by_char(tiny, 3, 4), by_short(p, 301, 4, 1e-300),
         by_int(p, 302, 5, 1e9), by_long(p, 303, 6, 1));
}

// Functions in which jumps to labels stand beside others through registers: two tables and one jump
// that takes from either, a switch with a table of its own, calls and tail calls through pointers.
#include <flick.h>
#include <stdio.h>

FLICK_NXP __attribute__((noinline)) static unsigned long either(const unsigned char *pc, long n,
                                                                unsigned long a, unsigned long b) {
  static void *const one[] = {&&inc, &&mul, &&loop, &&end};
  static void *const two[] = {&&dec, &&change, &&loop, &&end};
  const unsigned char *start = pc;
  unsigned long sum = 0;
#define NEXT goto *(sum & 4 ? one : two)[*pc++]
  NEXT;
inc:
  sum += a;
  NEXT;
mul:
  sum *= 3;
  NEXT;
dec:
  sum -= b;
  NEXT;
change:
  sum ^= a;
  goto *one[*pc++];
loop:
  if (--n)
    pc = start;
  goto *two[*pc++];
end:
  return sum;
}

FLICK_NXP __attribute__((noinline)) static unsigned long beside(const unsigned char *pc, long n,
                                                                unsigned long a, unsigned long b) {
  void *where[] = {&&out, &&on, &&end};
  const unsigned char *start = pc;
  unsigned long sum = 1;
again:
  switch (*pc++) {
  case 0:
    sum += a;
    break;
  case 1:
    sum *= 3;
    break;
  case 2:
    sum -= b;
    goto *where[1];
  case 3:
    sum ^= sum >> 3;
    break;
  case 4:
    if (--n)
      pc = start;
    goto *where[n == 0 ? 2 : 0];
  case 5:
    sum += 77;
    break;
  default:
    return ~0ul;
  }
  goto again;
on:
  sum += *pc;
  goto again;
out:
  where[0] = n % 2 ? &&on : &&out;
  goto again;
end:
  return sum;
}

typedef unsigned long function(unsigned long, unsigned long);
FLICK_NXP __attribute__((noinline)) static unsigned long add(unsigned long a, unsigned long b) {
  return a + b;
}
FLICK_NXP __attribute__((noinline)) static unsigned long mix(unsigned long a, unsigned long b) {
  return a ^ b << 1;
}
FLICK_HOST __attribute__((noinline)) static unsigned long host(unsigned long a, unsigned long b) {
  return a - b;
}
static function *functions[] = {add, mix, host};

FLICK_NXP __attribute__((noinline)) static unsigned long
tails(unsigned long a, unsigned long b, const void *const *label, function *last) {
  if (!label)
    return 0;
  const void *at[] = {&&one, &&two, &&three};
  goto *at[(unsigned long)label % 3];
one:
  return last(a, b);
two:
  a += functions[b % 3](a, b);
  goto *at[2];
three:
  return functions[a % 3](b, a);
}

int main(void) {
  const unsigned char p[] = {0, 1, 0, 1, 2, 3}, q[] = {0, 1, 2, 3, 5, 0, 4};
  printf("%lx\n", either(p, 300, 7, 9));
  printf("%lx\n", beside(q, 300, 7, 9));
  unsigned long sum = 0;
  for (unsigned long i = 1; i < 300; i++)
    sum = sum * 5 + tails(i, sum, (const void *const *)i, functions[i % 3]);
  printf("%lx\n", sum);
}

// A table of labels on the stack that the function itself changes while it runs, and one that it
// gets a pointer to and another function changes.
#include <flick.h>
#include <stdio.h>

FLICK_NXP __attribute__((noinline)) static void swap(void **a, void **b) {
  void *other = *a;
  *a = *b;
  *b = other;
}

FLICK_NXP __attribute__((noinline)) static unsigned long run(const unsigned char *pc, long n,
                                                             unsigned long a, unsigned long b) {
  void *table[] = {&&inc, &&mul, &&change, &&loop, &&end, &&mul2};
  const unsigned char *start = pc;
  unsigned long sum = 0;
  goto *table[*pc++];
inc:
  sum += a;
  goto *table[*pc++];
mul:
  sum *= 3;
  goto *table[*pc++];
change:
  if (n % 3)
    table[1] = n % 2 ? &&mul2 : &&mul;
  else
    swap(&table[1], &table[5]);
  goto *table[*pc++];
mul2:
  sum ^= b;
  goto *table[*pc++];
loop:
  if (--n)
    pc = start;
  goto *table[*pc++];
end:
  return sum;
}

int main(void) {
  const unsigned char p[] = {0, 1, 2, 0, 5, 3, 4};
  printf("%lx\n", run(p, 400, 11, 0x5555));
}

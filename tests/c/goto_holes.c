// Constant tables of labels that are more than labels: with entries that are null, with other
// fields, with gaps of a thousand entries.
#include <flick.h>
#include <stdio.h>

struct entry {
  long cost;
  void *label;
  const char *name;
};

FLICK_NXP __attribute__((noinline)) static unsigned long holes(const unsigned char *pc, long n,
                                                               unsigned long a) {
  static void *const table[] = {&&inc, 0, &&mul, 0, 0, &&loop, 0, 0, 0, &&end};
  const unsigned char *start = pc;
  unsigned long sum = 0;
next:
  if (!table[*pc])
    return ~sum;
  goto *table[*pc++];
inc:
  sum += a;
  goto next;
mul:
  sum *= 3;
  goto *table[*pc++];
loop:
  pc = --n ? start : pc;
  goto next;
end:
  return sum;
}

FLICK_NXP __attribute__((noinline)) static unsigned long structs(const unsigned char *pc, long n,
                                                                 unsigned long a) {
  static const struct entry table[] = {
      {3, &&inc, "inc"}, {0, 0, 0}, {5, &&mul, "mul"}, {1, &&loop, "loop"}, {1, &&end, "end"}};
  const unsigned char *start = pc;
  unsigned long sum = 0, cost = 0;
#define NEXT                                                                                       \
  cost += table[*pc].cost;                                                                         \
  goto *table[*pc++].label
  NEXT;
inc:
  sum += a;
  NEXT;
mul:
  sum *= 3;
  NEXT;
loop:
  pc = --n ? start : pc;
  NEXT;
end:
  return sum + cost;
}

FLICK_NXP __attribute__((noinline)) static unsigned long large(const unsigned short *pc, long n,
                                                               unsigned long a) {
  static void *const table[6000] = {
      [0] = &&inc, [1 ... 4998] = &&mul, [4999] = &&dec, [5000 ... 5998] = &&loop, [5999] = &&end};
  const unsigned short *start = pc;
  unsigned long sum = 0;
  goto *table[*pc++];
inc:
  sum += a;
  goto *table[*pc++];
mul:
  sum *= 3;
  goto *table[*pc++];
dec:
  sum -= 1;
  goto *table[*pc++];
loop:
  pc = --n ? start : pc;
  goto *table[*pc++];
end:
  return sum;
}

int main(void) {
  const unsigned char p[] = {0, 2, 0, 5, 9}, q[] = {0, 2, 0, 5, 1}, r[] = {0, 2, 0, 3, 4};
  const unsigned short s[] = {0, 77, 4999, 0, 4500, 5555, 5999};
  printf("%lx %lx\n", holes(p, 300, 7), holes(q, 300, 7));
  printf("%lx\n", structs(r, 300, 7));
  printf("%lx\n", large(s, 300, 7));
}

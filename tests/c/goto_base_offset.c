// Programs of offsets from a label that stays in a register, as OCaml's byte code has them, and of
// offsets that the function has computed at run time into a table of its caller's.
#include <flick.h>
#include <stdio.h>

static long offsets[5];

FLICK_NXP __attribute__((noinline)) static unsigned long run(const long *pc, long n,
                                                             unsigned long a, float x) {
  static void *const table[] = {&&inc, &&mul, &&dec, &&loop, &&end};
  const long *start = pc;
  unsigned long sum = 0;
  char *base = &&inc;
  if (!pc) {
    for (int i = 0; i < 5; i++)
      offsets[i] = (char *)table[i] - base;
    return 0;
  }
  goto *(void *)(base + *pc++);
inc:
  sum += a;
  goto *(void *)(base + *pc++);
mul:
  sum *= 3;
  x += 1;
  goto *(void *)(base + *pc++);
dec:
  sum -= 1;
  goto *(void *)(base + *pc++);
loop:
  if (--n)
    pc = start;
  goto *(void *)(base + *pc++);
end:
  return sum + (unsigned long)x;
}

FLICK_NXP __attribute__((noinline)) static unsigned long by_short(const unsigned char *pc, long n,
                                                                  unsigned long a, short *table) {
  const unsigned char *start = pc;
  unsigned long sum = 0;
  if (!pc) {
    table[0] = 0;
    table[1] = &&mul - &&inc;
    table[2] = &&loop - &&inc;
    table[3] = &&end - &&inc;
    return 0;
  }
  goto *(&&inc + table[*pc++]);
inc:
  sum += a;
  goto *(&&inc + table[*pc++]);
mul:
  sum *= 3;
  goto *(&&inc + table[*pc++]);
loop:
  if (--n)
    pc = start;
  goto *(&&inc + table[*pc++]);
end:
  return sum;
}

int main(void) {
  run(0, 0, 0, 0);
  const long p[] = {offsets[0], offsets[1], offsets[2], offsets[0], offsets[3], offsets[4]};
  printf("%lx\n", run(p, 300, 5, 0.5f));
  short table[4];
  by_short(0, 0, 0, table);
  const unsigned char q[] = {0, 1, 0, 2, 3};
  printf("%lx\n", by_short(q, 300, 9, table));
}

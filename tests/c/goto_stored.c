// Direct threading with labels that statements store: in a static array, on the heap by another
// function, and in a struct beside other fields. The function is called once to give them away, and
// then interprets.
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

struct step {
  int operand;
  void *label;
};

static void *labels[5];

FLICK_NXP __attribute__((noinline)) static void keep(void **to, void *label) { *to = label; }

FLICK_NXP __attribute__((noinline)) static unsigned long run(const struct step *pc, long n,
                                                             unsigned long a, double x, double y) {
  const struct step *start = pc;
  unsigned long sum = 0;
  if (!pc) {
    labels[0] = &&inc;
    labels[1] = &&mul;
    labels[2] = &&dec;
    keep(&labels[3], &&loop);
    keep(labels + 4, &&end);
    return 0;
  }
  goto * pc->label;
inc:
  sum += a + pc->operand;
  goto * (++pc)->label;
mul:
  sum *= 3;
  x += y;
  goto * (++pc)->label;
dec:
  sum -= 1;
  goto * (++pc)->label;
loop:
  pc = --n ? start : pc + 1;
  goto * pc->label;
end:
  return sum + (unsigned long)x;
}

int main(void) {
  const int program[] = {0, 1, 2, 0, 3, 4};
  run(0, 0, 0, 0, 0);
  struct step *code = malloc(sizeof program / sizeof *program * sizeof *code);
  for (unsigned long i = 0; i < sizeof program / sizeof *program; i++)
    code[i] = (struct step){(int)i, labels[program[i]]};
  printf("%lx\n", run(code, 500, 7, 1, 2));
  free(code);
}

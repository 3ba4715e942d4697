// An interpreter of byte code with a table of label addresses, in an NxP and in a both-sided
// function that each side runs.
// OUT: 5 4 3 2 1 49 -49
// OUT: 5 4 3 2 1 49 -49
// OUT: 5 4 3 2 1 49 -49
#include <flick.h>
#include <stdio.h>

enum { PUSH, ADD, MUL, DUP, NEG, JNZ, PRINT, HALT };

#define INTERPRETER(mark, name)                                                                    \
  mark static long name(const signed char *pc, long *stack) {                                      \
    static const void *const labels[] = {&&push, &&add,  &&mul,   &&dup,                           \
                                         &&neg,  &&jump, &&print, &&halt};                         \
    long *sp = stack;                                                                              \
    goto *labels[(int)*pc++];                                                                      \
  push:                                                                                            \
    *sp++ = *pc++;                                                                                 \
    goto *labels[(int)*pc++];                                                                      \
  add:                                                                                             \
    sp--, sp[-1] += sp[0];                                                                         \
    goto *labels[(int)*pc++];                                                                      \
  mul:                                                                                             \
    sp--, sp[-1] *= sp[0];                                                                         \
    goto *labels[(int)*pc++];                                                                      \
  dup:                                                                                             \
    sp[0] = sp[-1], sp++;                                                                          \
    goto *labels[(int)*pc++];                                                                      \
  neg:                                                                                             \
    sp[-1] = -sp[-1];                                                                              \
    goto *labels[(int)*pc++];                                                                      \
  jump:                                                                                            \
    pc += sp[-1] ? *pc : 1;                                                                        \
    goto *labels[(int)*pc++];                                                                      \
  print:                                                                                           \
    printf("%ld ", sp[-1]);                                                                        \
    goto *labels[(int)*pc++];                                                                      \
  halt:                                                                                            \
    return sp[-1];                                                                                 \
  }

INTERPRETER(FLICK_NXP, run_nxp)
INTERPRETER(FLICK_BOTH, run_both)

static const signed char program[] = {PUSH, 5, PRINT, PUSH, -1,  ADD,   JNZ, -5,
                                      PUSH, 7, ADD,   DUP,  MUL, PRINT, NEG, HALT};

FLICK_NXP static long both_on_nxp(long *stack) { return run_both(program, stack); }

int main(void) {
  long stack[8];
  printf("%ld\n", run_nxp(program, stack));
  printf("%ld\n", run_both(program, stack));
  printf("%ld\n", both_on_nxp(stack));
}

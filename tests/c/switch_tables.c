// Dense, sparse and string-valued switch statements in NxP code: jump tables, lookup tables, fall
// through, ranges.
// OUT: 999 21 63 23 59 17 -25 105 56 1008 | 1 2 3 4 5 0 | ? jan feb mar apr may ?
#include <flick.h>
#include <limits.h>
#include <stdio.h>

FLICK_HOST static int log_op(int op) { return op + 1; }

FLICK_NXP static int dense(int op, int x) {
  switch (op) {
  case 0:
    return x + 1;
  case 1:
    x *= 3;
    break;
  case 2:
    return log_op(x);
  case 3:
    x ^= 0x55;
    /* fall through */
  case 4:
    x -= 7;
    break;
  case 5:
    return -x;
  case 6:
    x = x << 2 | 1;
    break;
  case 7:
    return log_op(x) * 2;
  default:
    return 1000 + op;
  }
  return x;
}
FLICK_NXP static int sparse(long v) {
  switch (v) {
  case LONG_MIN:
    return 1;
  case -100000:
    return 2;
  case 0:
    return 3;
  case 1L << 40:
    return 4;
  case LONG_MAX:
    return 5;
  }
  return 0;
}
FLICK_NXP static const char *month(int m) {
  switch (m) {
  case 1:
    return "jan";
  case 2:
    return "feb";
  case 3:
    return "mar";
  case 4:
    return "apr";
  case 5:
    return "may";
  }
  return "?";
}

int main(void) {
  for (int op = -1; op <= 8; op++)
    printf("%d ", dense(op, 20 + op));
  printf("| %d %d %d %d %d %d |", sparse(LONG_MIN), sparse(-100000), sparse(0), sparse(1L << 40),
         sparse(LONG_MAX), sparse(7));
  for (int m = 0; m <= 6; m++)
    printf(" %s", month(m));
  printf("\n");
}

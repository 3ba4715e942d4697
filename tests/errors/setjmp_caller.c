// A function that returns twice, called from NxP code: its second return would find no crossing.
// FAILS: compile FLK0208
// SAYS: 'guard'
#include <flick.h>
#include <setjmp.h>

static jmp_buf back;

FLICK_NXP int guard(int x) {
  if (setjmp(back)) /* HERE */
    return 1;
  return x;
}

int main(void) { return guard(0); }

// A vector in the signature of a placed function is not covered by the crossing yet.
// FAILS: compile FLK0205
// SAYS: 'add'
#include <flick.h>

typedef int four __attribute__((vector_size(16)));

FLICK_NXP four add(four a, four b) /* HERE */
{
  return a + b;
}

int main(void) {
  four a = {0};
  return add(a, a)[0];
}

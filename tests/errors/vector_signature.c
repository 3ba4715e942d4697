// A vector of 32 bytes in the signature of a placed function: it is in an AVX register on x86-64.
// FAILS: compile FLK0205
// SAYS: 'add'
// SAYS: <8 x i32>
// CFLAGS: -mavx2
#include <flick.h>

typedef int eight __attribute__((vector_size(32)));

FLICK_NXP eight add(eight a, eight b) /* HERE */
{
  return a + b;
}

int main(void) {
  eight a = {0};
  return add(a, a)[0];
}

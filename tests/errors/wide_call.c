// A call in the body passes what the crossing does not cover.
// FAILS: compile FLK0206
// SAYS: 'first'
// SAYS: 'twice'
// CFLAGS: -mavx
#include <flick.h>

typedef int eight __attribute__((vector_size(32)));

__attribute__((noinline)) FLICK_HOST int first(eight v) { return v[0]; }

FLICK_NXP int twice(const eight *v) { return first(*v + *v); /* HERE */ }

int main(void) {
  eight v = {0};
  return twice(&v);
}

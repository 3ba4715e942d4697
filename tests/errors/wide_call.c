// A call in the body passes what the crossing does not cover yet.
// FAILS: compile FLK0206
// SAYS: 'first'
// SAYS: 'twice'
#include <flick.h>

typedef int four __attribute__((vector_size(16)));

__attribute__((noinline)) FLICK_HOST int first(four v) { return v[0]; }

FLICK_NXP int twice(const four *v) { return first(*v + *v); /* HERE */ }

int main(void) {
  four v = {0};
  return twice(&v);
}

// The same through a pointer, which may lead anywhere.
// FAILS: compile FLK0206
// SAYS: a call through a pointer
// CFLAGS: -mavx
#include <flick.h>

typedef int eight __attribute__((vector_size(32)));

FLICK_NXP int twice(int (*take)(eight), const eight *v) { return take(*v + *v); /* HERE */ }

static int first(eight v) { return v[0]; }

int main(void) {
  eight v = {0};
  return twice(first, &v);
}

// The same through a pointer, which may lead anywhere.
// FAILS: compile FLK0206
// SAYS: a call through a pointer
#include <flick.h>

typedef int four __attribute__((vector_size(16)));

FLICK_NXP int twice(int (*take)(four), const four *v) { return take(*v + *v); /* HERE */ }

static int first(four v) { return v[0]; }

int main(void) {
  four v = {0};
  return twice(first, &v);
}

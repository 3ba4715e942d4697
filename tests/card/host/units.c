// A function on an accelerator that a header declares, called from the unit with its body and from
// another one; and a static one of the header, which each unit has.
#include "check.h"
#include "sums.h"

int main(int argc, char **argv) {
  int is_on_card = argc > 1 && !strcmp(argv[1], "card");
  double a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, sums[8] = {0};
  expect(!add_eight(a, a, sums) && sums[7] == 16, "a call of another unit's function");
  expect(!add_own(sums, a, sums) && sums[7] == 24, "a call of this unit's own");
  expect(!add_beside_the_body(a, sums) && sums[7] == 24, "calls from the unit with the body");
  int (*pointer)(const double *, const double *, double *) = add_eight;
  expect(!pointer(a, a, sums) && sums[0] == 2, "a call through a pointer");
  expect(bodies_of_sums == (is_on_card ? 0 : 5), "how often bodies were executed");
  return conclude();
}

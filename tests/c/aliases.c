// Aliases in the unit that defines their targets: a store through one name is seen through the
// other, and both names have one address, on both sides.
// OUT: variables 4 6
// OUT: addresses 1 1 1 1
// OUT: calls 8 8
#include "flick.h"
#include <stdio.h>

int shared = 1;
extern int shared_alias __attribute__((alias("shared")));
static int local = 5;
static int local_alias __attribute__((alias("local")));
FLICK_NXP int on_nxp(int x) { return x * 2; }
int on_nxp_alias(int) __attribute__((alias("on_nxp")));
FLICK_HOST int on_host(int x) { return x * 2; }
int on_host_alias(int) __attribute__((alias("on_host")));

FLICK_NXP __attribute__((noinline)) static int through_shared(int a, int b) {
  shared = a;
  shared_alias = b;
  return shared;
}
FLICK_NXP __attribute__((noinline)) static int through_local(int a, int b) {
  local = a;
  local_alias = b;
  return local;
}
FLICK_NXP static int nxp_function_equal(void) { return on_nxp == on_nxp_alias; }
FLICK_NXP static int host_function_equal(void) { return on_host == on_host_alias; }

int main(void) {
  printf("variables %d %d\n", through_shared(3, 4), through_local(5, 6));
  printf("addresses %d %d %d %d\n", nxp_function_equal(), host_function_equal(),
         on_nxp == on_nxp_alias, on_host == on_host_alias);
  printf("calls %d %d\n", on_nxp_alias(4), on_host_alias(4));
  return 0;
}

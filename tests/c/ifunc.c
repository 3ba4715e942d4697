// Indirect functions: NxP code calls one by name and through its address, whose resolver picks a
// host function; another one's resolver picks an NxP function. (Their addresses are not compared:
// lld gives each object file its own, natively too.)
// SKIP-VALGRIND: valgrind 3.19 loses the address of an indirect function in static programs
#include <flick.h>
#include <stdio.h>

FLICK_HOST static int on_host(int x) { return x + 1; }
FLICK_NXP static int on_nxp(int x) { return x * 2; }
typedef int function(int);
FLICK_HOST static function *pick_host(void) { return on_host; }
FLICK_HOST static function *pick_nxp(void) { return on_nxp; }
int leads_to_host(int x) __attribute__((ifunc("pick_host")));
int leads_to_nxp(int x) __attribute__((ifunc("pick_nxp")));

FLICK_NXP static int calls(int x) { return leads_to_host(x) * 100 + leads_to_nxp(x); }
FLICK_NXP static function *address(int which) { return which ? leads_to_host : leads_to_nxp; }

int main(void) {
  printf("%d %d %d\n", leads_to_host(1), leads_to_nxp(2), calls(3));
  printf("%d %d\n", address(0)(4), address(1)(4));
}

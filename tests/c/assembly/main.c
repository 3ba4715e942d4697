// Assembly language beside C: NxP code calls a function of a .s file at an odd address, which calls
// an NxP function back.
#include <flick.h>
#include <stdio.h>

long odd_entry(long a, long b);
long call_back(long (*f)(long), long x);

FLICK_NXP static long on_nxp(long x) { return x * 2; }
FLICK_NXP static long run(long x) {
  long (*volatile pointer)(long, long) = odd_entry;
  return odd_entry(x, 5) * 100 + pointer(x, 6) + call_back(on_nxp, x);
}

int main(void) { printf("%ld %ld\n", run(7), call_back(on_nxp, 21)); }

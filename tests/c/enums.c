// Enumerations as arguments, results, array indices and flags across both sides; negative and large
// enumerators.
// OUT: red green blue red -1 1 0 40000001 1
#include <flick.h>
#include <stdio.h>

enum color { RED, GREEN = 5, BLUE };
enum sign { NEGATIVE = -1, NONE, POSITIVE };
enum flags { A = 1, B = 2, HIGH = 1 << 30 };

FLICK_HOST static enum sign host_sign(int x) { return x < 0 ? NEGATIVE : x > 0 ? POSITIVE : NONE; }
FLICK_NXP static enum color next(enum color c) {
  return c == RED ? GREEN : c == GREEN ? BLUE : RED;
}
FLICK_NXP static enum sign product(int a, int b) {
  return (enum sign)(host_sign(a) * host_sign(b));
}
FLICK_NXP static enum flags toggle(enum flags f, enum flags g) { return (enum flags)(f ^ g); }

int main(void) {
  static const char *const names[] = {[RED] = "red", [GREEN] = "green", [BLUE] = "blue"};
  enum color c = RED;
  for (int i = 0; i < 4; i++, c = next(c))
    printf("%s ", names[c]);
  printf("%d %d %d ", product(-3, 4), product(-3, -4), product(0, 4));
  printf("%x %x\n", toggle(A, HIGH), toggle((enum flags)(A | B), B));
}

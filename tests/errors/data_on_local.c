// FLICK_NXP_DATA on a variable that lives on the stack.
// FAILS: compile FLK0214
#include <flick.h>

int main(void) {
  FLICK_NXP_DATA int local = 0; /* HERE */
  return local;
}

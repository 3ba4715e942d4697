// Host code jumps into the middle of RV64 code: no entry, so the native SIGSEGV and a report.
// FAILS: run FLK0501
// EXIT: signal SEGV
// SAYS: not the entry of a function
// SAYS: twice+0x
#include <flick.h>

/* The part of a gate record that leads to the image (crates/abi, `Gate`); empty records have none.
 */
struct gate {
  void *target;
  char *image;
  void *rest[6];
};
extern struct gate __start_flick_gates[] __attribute__((visibility("hidden")));

FLICK_NXP int twice(int x) {
  volatile int y = x;
  return y + y;
}

int main(void) {
  struct gate *gate = __start_flick_gates;
  if (twice(4) != 8)
    return 1;
  while (!gate->image)
    gate++;
  return ((int (*)(int))(void *)(gate->image + 2))(4);
}

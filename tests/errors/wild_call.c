// Host code jumps into the middle of RV64 code: no entry, so the native SIGSEGV and a report.
// FAILS: run FLK0501
// EXIT: signal SEGV
// SAYS: not the entry of a function
// SAYS: twice+0x
#include <flick.h>

/* The part of a gate record that leads to the image (crates/abi, `Gate`). */
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
  if (twice(4) != 8)
    return 1;
  return ((int (*)(int))(void *)(__start_flick_gates[0].image + 2))(4);
}

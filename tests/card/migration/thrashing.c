// Leaves the vector hart before each vector: `flick machine stat` names the line and what that
// takes.
#include <flick/card.h>

int main(void) {
  for (int n = 0; n < 200; n++) {
    __asm__ volatile(
        ".option push\n.option arch, +v\nvsetivli zero, 2, e64, m1, ta, ma\n.option pop");
    flick_hint(FLICK_HINT_GENERAL);
  }
}

// What runs at the end of the program, in reverse order of registration: functions given to atexit
// by C and C++ code, destructors of static objects and of static locals, all placed here and there.
#include "order.h"
#include <cstdlib>

struct Object {
  int n;
  FLICK_NXP explicit Object(int x) : n(x) { say("made", n); }
  FLICK_NXP ~Object() { say("destroyed", n); }
};
static Object first(1);
FLICK_NXP static void at_end() {
  static Object at_last(9);
  say("atexit C++", at_last.n);
}
FLICK_NXP static void late() {
  static Object third(3);
  std::atexit(at_end);
}
static Object second(2);

int main() {
  c_register(4);
  late();
  c_register(5);
  std::atexit([] { say("lambda", 6); });
  say("main ends", 0);
}

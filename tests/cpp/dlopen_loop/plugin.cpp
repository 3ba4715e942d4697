#include "plugin.h"
#include <flick.h>

namespace {
struct State {
  int *value;
  FLICK_NXP State() : value(new int(NUMBER)) { note(1); }
  FLICK_NXP ~State() {
    note(100);
    delete value;
  }
};
State state;
} // namespace
extern "C" FLICK_NXP int plugin_run(int x) { return x * 10 + *state.value; }

#include "names.h"

namespace {
int state = 200;
FLICK_NXP int helper(int x) { return state -= x; }
struct Local {
  int v = 2;
  FLICK_NXP virtual int get() { return v * 10; }
  virtual ~Local() = default;
};
} // namespace
FLICK_HOST int other_helper(int x) { return helper(x); }
FLICK_NXP int other_local() {
  Local l;
  Local *volatile p = &l;
  return p->get();
}

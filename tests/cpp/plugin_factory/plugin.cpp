#include "plugin.h"

namespace {
int applied;
class Chain final : public Filter {
  Filter *inner;
  int *calls;

public:
  FLICK_NXP explicit Chain(Filter *f) : inner(f), calls(new int(0)) {}
  FLICK_NXP ~Chain() override { delete calls; }
  FLICK_NXP int apply(int x) override { return inner->apply(x) + ++*calls * 1000 + applied++; }
};
} // namespace

extern "C" __attribute__((visibility("default"))) FLICK_NXP Filter *make_filter(Filter *inner) {
  return new Chain(inner);
}

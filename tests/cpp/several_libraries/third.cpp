#include "parts.h"

namespace {
struct Third : Part {
  Part *inner;
  FLICK_HOST explicit Third(Part *p) : inner(p) {}
  FLICK_NXP int work(int x) override { return inner->work(x) - 5 + shared_count++; }
};
} // namespace
extern "C" FLICK_NXP Part *third_make(Part *p) { return new Third(p); }

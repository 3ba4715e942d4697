#include "parts.h"

namespace {
struct Second : Part {
  Part *inner;
  FLICK_NXP explicit Second(Part *p) : inner(p) {}
  FLICK_HOST int work(int x) override { return first_run(inner, x) + shared_count; }
};
} // namespace
FLICK_NXP Part *second_make(Part *p) { return new Second(p); }

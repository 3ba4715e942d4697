#include "parts.h"

static int alive;
FLICK_NXP Part::Part() { alive++; }
FLICK_NXP Part::~Part() { alive--; }
namespace {
struct First : Part {
  Part *inner;
  FLICK_NXP explicit First(Part *p) : inner(p) {}
  FLICK_NXP int work(int x) override { return inner->work(x) * 2; }
};
} // namespace
FLICK_NXP Part *first_make(Part *p) { return new First(p); }
FLICK_NXP int first_run(Part *p, int x) { return p->work(x) + 1; }
FLICK_HOST void first_drop(Part *p) { delete p; }
FLICK_NXP int first_alive() { return alive; }

#include "shapes.h"

namespace {
const Shape *all[4];
int n;
struct Square : Shape {
  int a;
  FLICK_NXP explicit Square(int x) : a(x) { add(this); }
  FLICK_NXP int area() const override { return clamp<int>(a * a, 20); }
};
Square three(3), five(5);
} // namespace
FLICK_NXP int registered() { return n; }
FLICK_HOST const Shape *shape(int i) { return all[i]; }
FLICK_NXP void add(const Shape *s) { all[n++] = s; }

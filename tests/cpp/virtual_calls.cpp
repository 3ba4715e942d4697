// Virtual functions of either side through one base: NxP code calls host objects, host code calls
// NxP objects, and each goes where its override is.
// OUT: 12 16 28
// OUT: 12 16 28
// OUT: host nxp
// CROSSINGS: host-to-nxp>=4 nxp-to-host>=1
#include <cstdio>
#include <flick.h>

struct Shape {
  virtual ~Shape() {}
  virtual int area() const = 0;
  FLICK_NXP virtual const char *side() const { return "nxp"; }
};
struct Rectangle final : Shape {
  int a, b;
  Rectangle(int x, int y) : a(x), b(y) {}
  FLICK_NXP int area() const override { return a * b; }
  FLICK_HOST const char *side() const override { return "host"; }
};
struct Square : Shape {
  int a;
  explicit Square(int x) : a(x) {}
  FLICK_HOST int area() const override { return a * a; }
};

FLICK_NXP static int sum_on_nxp(const Shape *const *shapes, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += shapes[i]->area();
  return sum;
}
FLICK_HOST static int sum_on_host(const Shape *const *shapes, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += shapes[i]->area();
  return sum;
}

int main() {
  Rectangle r(3, 4);
  Square s(4);
  const Shape *shapes[] = {&r, &s};
  int a = sum_on_nxp(shapes, 1), b = sum_on_nxp(shapes + 1, 1), c = sum_on_nxp(shapes, 2);
  std::printf("%d %d %d\n", a, b, c);
  a = sum_on_host(shapes, 1), b = sum_on_host(shapes + 1, 1), c = sum_on_host(shapes, 2);
  std::printf("%d %d %d\n", a, b, c);
  std::printf("%s %s\n", shapes[0]->side(), shapes[1]->side());
}

// Classes of two to four floats by value: as this, arguments and results of methods, operators and
// virtual functions on both sides; std::complex<float>; a vector as a member.
#include <complex>
#include <cstdio>
#include <flick.h>

struct Point {
  float x, y;
  FLICK_NXP Point operator+(Point p) const { return {x + p.x, y + p.y}; }
  FLICK_HOST Point operator*(float k) const { return {x * k, y * k}; }
};
struct Colour {
  float r, g, b, a;
};
struct Shape {
  virtual ~Shape() = default;
  virtual Point centre(Point from, Colour c) const = 0;
};
struct OnNxp : Shape {
  Point at{3, 4};
  FLICK_NXP Point centre(Point from, Colour c) const override {
    return (at + from) * c.r + Point{c.g, c.a};
  }
};
struct OnHost : Shape {
  FLICK_HOST Point centre(Point from, Colour c) const override {
    return Point{c.b, c.r} + from * c.a;
  }
};
FLICK_NXP static Point through(const Shape &s, Point p) { return s.centre(p, {1, 2, 3, 4}); }
FLICK_NXP static std::complex<float> square(std::complex<float> z) { return z * z; }
FLICK_NXP static Colour mix(Colour a, Colour b, Point weights) {
  return {a.r * weights.x + b.r * weights.y, a.g, b.b, a.a - b.a};
}
typedef float Four __attribute__((vector_size(16)));
struct Row {
  Four v;
  FLICK_NXP float sum() const { return v[0] + v[1] + v[2] + v[3]; }
};
FLICK_HOST static Row host_row(Row a, Row b) { return {a.v * b.v}; }
FLICK_NXP static Row nxp_row(Row a, Row b) { return {host_row(a, b).v + a.v}; }

int main() {
  OnNxp n;
  OnHost h;
  const Shape *shapes[] = {&n, &h};
  for (const Shape *s : shapes) {
    Point p = through(*s, {0.5f, -1}), q = s->centre(p, {4, 3, 2, 1});
    std::printf("%g %g %g %g\n", p.x, p.y, q.x, q.y);
  }
  std::complex<float> z = square({1.5f, -2});
  Colour c = mix({1, 2, 3, 4}, {5, 6, 7, 8.5f}, {0.25f, 2});
  Row r = nxp_row(Row{Four{1, 2, 3, 4}}, Row{Four{5, 6, 7, 8}});
  std::printf("%g %g %g %g %g %g %g\n", z.real(), z.imag(), c.r, c.g, c.b, c.a, r.sum());
  Point (Point::*add)(Point) const = &Point::operator+;
  Point (Point::*scale)(float) const = &Point::operator*;
  Point p = (Point{1, 2}.*add)((Point{3, 4}.*scale)(2));
  std::printf("%g %g\n", p.x, p.y);
}

// Overloaded operators of both sides: arithmetic, comparison, subscript, call, increment, comma,
// arrow, assignment.
// OUT: 3 3 -312 1
#include <cstdio>
#include <flick.h>

struct Vec {
  double x, y;
  FLICK_NXP Vec operator+(const Vec &o) const { return {x + o.x, y + o.y}; }
  FLICK_HOST Vec operator-() const { return {-x, -y}; }
  FLICK_NXP Vec &operator*=(double k) {
    x *= k, y *= k;
    return *this;
  }
  FLICK_NXP bool operator==(const Vec &o) const { return x == o.x && y == o.y; }
  FLICK_HOST double &operator[](int i) { return i ? y : x; }
  FLICK_NXP double operator()(double a, double b) const { return a * x + b * y; }
  FLICK_NXP Vec &operator++() {
    x++;
    return *this;
  }
  FLICK_HOST Vec operator++(int) {
    Vec old = *this;
    x++;
    return old;
  }
};
FLICK_NXP static Vec operator*(double k, Vec v) { return v *= k; }
struct Arrow {
  Vec *v;
  FLICK_NXP Vec *operator->() const { return v; }
  FLICK_NXP Arrow &operator=(Vec *w) {
    v = w;
    return *this;
  }
};
FLICK_NXP static double on_nxp(Vec a, Vec b) {
  Vec c = -(a + b);
  c[1] += 3;
  c++;
  Arrow p{&a};
  p = &c;
  return p->x * 100 + (2.0 * c)(1, 1) + (a == b);
}

int main() {
  Vec a{1, 2}, b{3, 4};
  Vec c = 0.5 * (a + b);
  ++c;
  std::printf("%g %g %g %d\n", c.x, c[1], on_nxp(a, b), a == Vec{1, 2});
}

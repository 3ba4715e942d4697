// Placement without marks, by the names of the source: functions, classes, namespaces, one overload
// of several, template instances; later lines win.
// PLACE: names.place
// CROSSINGS: host-to-nxp=8 nxp-to-host=3
// OUT: 12 10 3 6 2 2.5 10 11
// OUT: 3
#include <cstdio>

namespace geometry {
int calls;
double area(double r) {
  calls++;
  return r * r * 3;
}
double area(double a, double b) {
  calls++;
  return a * b;
}
class Circle {
  double r;

public:
  explicit Circle(double x);
  double area() const;
  double scaled(double k) const;
};
Circle::Circle(double x) : r(x) {}
double Circle::area() const { return geometry::area(r); }
double Circle::scaled(double k) const { return k * r; }
namespace detail {
int helper(int x) {
  calls++;
  return x + 1;
}
} // namespace detail
} // namespace geometry
template <class T> T largest(T a, T b) {
  geometry::calls++;
  return a < b ? b : a;
}
int plain(int x) {
  geometry::calls++;
  return geometry::detail::helper(x) * 2;
}

class Counter {
  int n = 0;

public:
  int up();
  int get() const;
};
int Counter::up() { return ++n + get(); }
int Counter::get() const {
  geometry::calls++;
  return n;
}

int main() {
  Counter counter; // made on the NxP; up there, get on the host
  int up = counter.up() + counter.get();
  geometry::Circle c(2);           // to the NxP
  double a = c.area();             // to the NxP, where area(double) is, too
  double s = c.scaled(5);          // stays
  double d = geometry::area(1);    // to the NxP
  double e = geometry::area(2, 3); // stays
  int i = largest(1, 2);           // to the NxP
  double j = largest(1.5, 2.5);    // stays
  int k = plain(1) + plain(2);     // to the NxP twice, and back for helper
  std::printf("%g %g %g %g %d %g %d %d\n", a, s, d, e, i, j, k, geometry::calls);
  std::printf("%d\n", up);
}

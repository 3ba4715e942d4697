#include "shapes.hpp"

#include <cstdio>

namespace shapes {

FLICK_NXP double Circle::area() const { return 3.25 * radius * radius; }
std::string Circle::name() const { return "circle"; }

// The shoelace formula.
FLICK_NXP double Polygon::area() const {
  double twice = 0;
  for (size_t i = 0; i < corners.size(); i++) {
    const Point &a = corners[i], &b = corners[(i + 1) % corners.size()];
    twice += a.x * b.y - b.x * a.y;
  }
  return (twice < 0 ? -twice : twice) / 2;
}

FLICK_NXP double total_area(const std::vector<std::unique_ptr<Shape>> &all) {
  return fold(all, 0.0, [](double sum, const auto &shape) { return sum + shape->area(); });
}

std::string describe(const std::vector<std::unique_ptr<Shape>> &all) {
  std::string text;
  for (const auto &shape : all) {
    char area[32];
    std::snprintf(area, sizeof area, " %.3f\n", shape->area());
    text += shape->name() + area;
  }
  return text;
}

} // namespace shapes

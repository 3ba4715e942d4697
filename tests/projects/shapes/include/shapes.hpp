// Shapes: areas of polygons in the plane.
#pragma once
#include <memory>
#include <string>
#include <vector>

#ifdef __FLICK__
#include <flick.h>
#else
#define FLICK_NXP
#endif

namespace shapes {

struct Point {
  double x, y;
};

class Shape {
public:
  virtual ~Shape() = default;
  virtual double area() const = 0;
  virtual std::string name() const { return "shape"; }
};

class Circle final : public Shape {
public:
  explicit Circle(double radius) : radius(radius) {}
  double area() const override;
  std::string name() const override;

private:
  double radius;
};

class Polygon final : public Shape {
public:
  explicit Polygon(std::vector<Point> corners) : corners(std::move(corners)) {}
  double area() const override;

private:
  std::vector<Point> corners;
};

// Folds over the elements; the compiler copies it for both sides where a placed function uses it.
template <typename Range, typename Value, typename Step>
Value fold(const Range &range, Value value, Step step) {
  for (const auto &element : range)
    value = step(value, element);
  return value;
}

double total_area(const std::vector<std::unique_ptr<Shape>> &all);
std::string describe(const std::vector<std::unique_ptr<Shape>> &all);

} // namespace shapes

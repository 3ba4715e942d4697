#include "shapes.hpp"

using namespace shapes;

int main() {
  Polygon square({{0, 0}, {0, 2}, {2, 2}, {2, 0}});
  const Shape &shape = square;
  return !(shape.area() == 4 && shape.name() == "shape" && Circle(1).area() == 3.25);
}

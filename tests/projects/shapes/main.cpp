#include "shapes.hpp"

#include <iostream>

int main() {
  std::vector<std::unique_ptr<shapes::Shape>> all;
  all.push_back(std::make_unique<shapes::Circle>(2));
  all.push_back(std::make_unique<shapes::Polygon>(
      std::vector<shapes::Point>{{0, 0}, {4, 0}, {4, 3}, {0, 3}}));
  all.push_back(
      std::make_unique<shapes::Polygon>(std::vector<shapes::Point>{{0, 0}, {1, 0}, {0, 1}}));
  std::cout << shapes::describe(all) << "total " << shapes::total_area(all) << '\n';
}

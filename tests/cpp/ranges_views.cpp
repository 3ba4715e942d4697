// Ranges and views: pipelines made on one side and walked on the other, projections, algorithms.
// CXXFLAGS: -std=c++20
// OUT: 496 241 3
#include <algorithm>
#include <array>
#include <cstdio>
#include <flick.h>
#include <ranges>

struct Item {
  int key, value;
};
FLICK_NXP static bool odd(int x) { return x % 2; }
FLICK_HOST static int cube(int x) { return x * x * x; }
FLICK_NXP static int on_nxp(int n) {
  int sum = 0;
  for (int x : std::views::iota(0, n) | std::views::filter(odd) | std::views::transform(cube))
    sum += x;
  return sum;
}
FLICK_NXP static void order(std::array<Item, 4> &items) {
  std::ranges::sort(items, std::greater{}, &Item::value);
}
FLICK_HOST static int on_host(const std::array<Item, 4> &items) {
  int n = 0;
  for (int k :
       items | std::views::transform(&Item::key) | std::views::reverse | std::views::take(3))
    n = n * 10 + k;
  return n;
}

int main() {
  std::array<Item, 4> items{{{1, 30}, {2, 10}, {3, 40}, {4, 20}}};
  order(items);
  std::printf("%d %d %d\n", on_nxp(8), on_host(items), items[0].key);
}

// C++23: if consteval, subscripts with several arguments, size suffix, static operator().
// CXXFLAGS: -std=c++2b
// OUT: 4 -4 53 3
#include <cstdio>
#include <flick.h>

struct Grid {
  int cells[6] = {1, 2, 3, 4, 5, 6};
  FLICK_NXP int &operator[](int row, int column) { return cells[row * 3 + column]; }
};
FLICK_NXP constexpr int where(int x) {
  if consteval {
    return x;
  } else {
    return -x;
  }
}
FLICK_HOST static int host_cell(Grid &g) { return g[1, 1]; }
FLICK_NXP static int on_nxp(Grid &g) {
  g[1, 1] = 50;
  return host_cell(g) + g[0, 2];
}

int main() {
  constexpr int c = where(4);
  Grid g;
  auto size = 3uz;
  std::printf("%d %d %d %zu\n", c, where(4), on_nxp(g), size);
}

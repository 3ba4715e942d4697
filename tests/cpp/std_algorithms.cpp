// Algorithms on both sides with comparisons and operations of the other side.
// OUT: 639428 20 59 1268
// OUT: 21
// OUT: 0
#include <algorithm>
#include <cstdio>
#include <flick.h>
#include <numeric>
#include <vector>

FLICK_NXP static bool nxp_less(int a, int b) {
  return a % 10 < b % 10 || (a % 10 == b % 10 && a < b);
}
FLICK_HOST static bool host_less(int a, int b) { return b < a; }
FLICK_NXP static std::vector<int> numbers(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 1);
  std::transform(v.begin(), v.end(), v.begin(), [](int x) { return x * 17 % 64; });
  return v;
}
FLICK_NXP static int on_nxp(std::vector<int> v) {
  std::sort(v.begin(), v.end(), host_less);
  int top = v[0] * 100 + v[1];
  std::nth_element(v.begin(), v.begin() + 9, v.end(), nxp_less);
  top += v[9];
  return top * 100 +
         static_cast<int>(std::count_if(v.begin(), v.end(), [top](int x) { return x < top % 50; }));
}

int main() {
  std::vector<int> v = numbers(40);
  int a = on_nxp(v);
  std::sort(v.begin(), v.end(), nxp_less);
  std::printf("%d %d %d %d\n", a, v[0], v[39], std::accumulate(v.begin(), v.end(), 0));
  auto mid = std::partition(v.begin(), v.end(), [](int x) FLICK_NXP { return x > 30; });
  std::printf("%d\n", static_cast<int>(mid - v.begin()));
  std::printf("%d\n", std::binary_search(v.begin(), v.begin(), 3, nxp_less));
}

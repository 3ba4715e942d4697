// std::function around functions, lambdas with state and member functions of both sides, stored on
// one side and called, copied and destroyed on the other.
// OUT: 8 10
// OUT: 26 28
// OUT: 800 1000
// OUT: 30 40
// OUT: 42 56
#include <cstdio>
#include <flick.h>
#include <functional>

using Work = std::function<int(int)>;
FLICK_NXP static int nxp_plus(int x) { return x + 1; }
FLICK_HOST static int host_plus(int x) { return x + 10; }
struct Scale {
  int k;
  FLICK_NXP int apply(int x) const { return k * x; }
};
FLICK_NXP static int call_on_nxp(const Work &w, int x) {
  Work copy = w;
  return copy(x) + w(x);
}
FLICK_HOST static int call_on_host(const Work &w, int x) {
  Work copy = w;
  return copy(x) + w(x);
}
FLICK_NXP static void make_on_nxp(Work *slots) {
  int big[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  slots[0] = nxp_plus;
  slots[1] = host_plus;
  slots[2] = [big](int x) { return big[x & 7] * 100; };
  Scale s{5};
  slots[3] = [s](int x) { return s.apply(x); };
}

int main() {
  Work slots[5];
  make_on_nxp(slots);
  slots[4] = std::bind(&Scale::apply, Scale{7}, std::placeholders::_1);
  for (const Work &w : slots) {
    int a = call_on_nxp(w, 3), b = call_on_host(w, 4);
    std::printf("%d %d\n", a, b);
  }
}

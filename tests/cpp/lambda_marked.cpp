// A mark on a lambda places its body: an NxP lambda called by host code, a host lambda called by
// NxP code, also converted to function pointers.
// CROSSINGS: host-to-nxp>=4 nxp-to-host>=2
// OUT: 10 16 101 3 7503 7503
#include <cstdio>
#include <flick.h>

static int sum;
FLICK_NXP static int twice(int (*f)(int), int x) { return f(f(x)); }

int main() {
  auto nxp = [](int x) FLICK_NXP {
    for (int i = 0; i < x; i++)
      sum += i;
    return sum;
  };
  auto host = [](int x) FLICK_HOST {
    sum += x;
    return x + 1;
  };
  int a = nxp(5), b = nxp(4), c = host(100);
  int d = twice(host, 1), e = twice(nxp, 3);
  std::printf("%d %d %d %d %d %d\n", a, b, c, d, e, sum);
}

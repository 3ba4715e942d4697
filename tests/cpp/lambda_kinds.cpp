// Generic and recursive lambdas, lambdas as function pointers for both sides, called at once, and
// returned.
// LIBS: -lm
// OUT: 8 144 58 58 8 11
#include <cstdio>
#include <flick.h>

FLICK_NXP static int apply(int (*f)(int), int x) { return f(x) * 2; }
FLICK_HOST static int apply_host(int (*f)(int), int x) { return f(x) * 3; }

FLICK_NXP static long generic(int n) {
  auto add = [](auto a, auto b) { return a + b; };
  return add(n, 1L) + static_cast<long>(add(1.5, n));
}
FLICK_NXP static int recursive(int n) {
  auto fib = [](auto self, int k) -> int {
    return k < 2 ? k : self(self, k - 1) + self(self, k - 2);
  };
  return fib(fib, n);
}
FLICK_NXP static int pointers(int x) {
  return apply([](int y) { return y + 1; }, x) + apply_host([](int y) { return y + 2; }, x);
}
FLICK_HOST static int host_pointers(int x) {
  return apply([](int y) { return y + 1; }, x) + apply_host(+[](int y) { return y + 2; }, x);
}
FLICK_NXP static auto adder(int k) {
  return [k](int x) { return x + k; };
}

int main() {
  const int at_once = [] { return apply([](int y) { return y; }, 4); }();
  std::printf("%ld %d %d %d %d %d\n", generic(3), recursive(12), pointers(10), host_pointers(10),
              at_once, adder(5)(6));
}

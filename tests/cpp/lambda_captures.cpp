// Lambdas that capture by value, by reference, by move and `this`, made on one side and called on
// the other.
// OUT: 232 312 16 43
#include <cstdio>
#include <flick.h>
#include <utility>

template <class F> FLICK_NXP static int on_nxp(F &f, int x) { return f(x) + f(x); }
template <class F> FLICK_HOST static int on_host(F &f, int x) { return f(x) + f(x); }

struct Holder {
  int *p;
  explicit Holder(int n) : p(new int(n)) {}
  Holder(Holder &&h) : p(std::exchange(h.p, nullptr)) {}
  ~Holder() { delete p; }
};
struct Machine {
  int state = 5;
  FLICK_NXP int run() {
    auto step = [this](int x) { return state += x; };
    return on_host(step, 2);
  }
};
FLICK_NXP static int made_on_nxp() {
  int calls = 0;
  auto count = [&calls](int x) { return x + ++calls; };
  int r = on_host(count, 10);
  return r * 10 + calls;
}
FLICK_HOST static int made_on_host() {
  int calls = 0;
  auto count = [&calls, k = 3](int x) mutable { return x + ++calls * k++; };
  int r = on_nxp(count, 10);
  return r * 10 + calls;
}
FLICK_NXP static int moved() {
  Holder h(21);
  auto owner = [h = std::move(h)](int x) { return *h.p + x; };
  return on_nxp(owner, 0) + (h.p == nullptr);
}

int main() {
  Machine m;
  int a = made_on_nxp(), b = made_on_host(), c = m.run(), d = moved();
  std::printf("%d %d %d %d\n", a, b, c, d);
}

// Variadic class and function templates: recursion over packs with heads and tails on different
// sides, more arguments than registers, forwarding.
// OUT: 10.5 17 7043 213
#include <cstdio>
#include <flick.h>
#include <utility>

template <class... T> struct Tuple;
template <> struct Tuple<> {
  FLICK_NXP double sum() const { return 0; }
};
template <class H, class... T> struct Tuple<H, T...> : Tuple<T...> {
  H head;
  FLICK_NXP Tuple(H h, T... t) : Tuple<T...>(t...), head(h) {}
  FLICK_NXP double sum() const {
    return static_cast<double>(head) + static_cast<const Tuple<T...> &>(*this).sum();
  }
};
FLICK_NXP static long weigh() { return 0; }
template <class H, class... T> FLICK_HOST static long weigh(H h, T... t) {
  return static_cast<long>(h) + 2 * weigh(t...);
}
template <class F, class... A> FLICK_NXP static auto forward(F &&f, A &&...a) {
  return std::forward<F>(f)(std::forward<A>(a)...);
}
template <class... A> FLICK_NXP static int many(A... a) {
  int list[] = {static_cast<int>(a)...}, n = 0;
  for (int x : list)
    n = n * 2 + x;
  return n;
}
FLICK_HOST static int nine(int a, int b, int c, int d, int e, int f, int g, int h, double i) {
  return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + static_cast<int>(i);
}

int main() {
  Tuple<int, double, char, long> t(1, 2.5, 3, 4);
  std::printf("%g %ld %d %d\n", t.sum(), weigh(1, 2.0, 3L),
              many(1, 0L, 1.5, 'a', 3u, short{2}, true, 9, 8, 7),
              forward(nine, 1, 2, 3, 4, 5, 6, 7, 8, 9.5));
}

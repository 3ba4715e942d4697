// Concepts choose among overloads of different sides.
// CXXFLAGS: -std=c++20
// OUT: 1100 7 70 1500 560
#include <concepts>
#include <cstdio>
#include <flick.h>

template <class T>
concept Sized = requires(const T &t) {
  { t.size() } -> std::convertible_to<int>;
};
template <class T>
concept Small = std::integral<T> && sizeof(T) <= 2;
struct Bag {
  FLICK_HOST int size() const { return 11; }
};
FLICK_NXP static int weight(Sized auto const &t) { return t.size() * 100; }
FLICK_NXP static int weight(std::integral auto x) { return static_cast<int>(x); }
FLICK_HOST static int weight(Small auto x) { return x * 10; }
FLICK_NXP static int weight(std::floating_point auto x) { return static_cast<int>(x * 1000); }
template <class T>
  requires(sizeof(T) > 4)
FLICK_NXP static int on_nxp(T x) {
  return weight(x) + weight(short{2}) + weight(0.5f);
}

int main() {
  std::printf("%d %d %d %d %d\n", weight(Bag{}), weight(7), weight(short{7}), weight(1.5),
              on_nxp(40L));
}

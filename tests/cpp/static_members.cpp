// Static data members and member functions of classes and templates, constants without storage,
// static members in NxP-local memory.
// CXXFLAGS: -std=c++17
// OUT: 105 110 23.25 7 1.5 3
// OUT: 13 1
#include <cstdio>
#include <flick.h>

class Account {
  static int count;
  static const int step = 5;

public:
  static constexpr double rate = 0.25;
  static inline long total = 1;
  FLICK_NXP_DATA static int local[4];
  FLICK_NXP static int open() { return count += step; }
  FLICK_HOST static long pay(int x) { return total += x; }
  FLICK_NXP static bool in_place() {
    return flick_is_nxp_memory(local) == flick_is_nxp_memory(&local[3]);
  }
};
int Account::count = 100;
FLICK_NXP_DATA int Account::local[4] = {1, 2, 3, 4};
template <class T> struct Registry {
  static T last;
  static int calls;
  FLICK_NXP static T put(T x) {
    calls++;
    T old = last;
    last = x;
    return old;
  }
};
template <class T> T Registry<T>::last{};
template <class T> int Registry<T>::calls = 0;
FLICK_NXP static double on_nxp() {
  Account::local[2] += 10;
  Registry<int>::put(7);
  Registry<double>::put(1.5);
  return static_cast<double>(Account::pay(9)) + Account::rate + Account::local[2];
}

int main() {
  int a = Account::open();
  double d = on_nxp();
  int b = Account::open(), old = Registry<int>::put(8);
  std::printf("%d %d %g %d %g %d\n", a, b, d, old, Registry<double>::last,
              Registry<int>::calls + Registry<double>::calls);
  std::printf("%d %d\n", Account::local[2], Account::in_place());
}

// vtables, type information (of templates, lambdas and local types, too), static locals, inline
// variables and functions have one address in a program and in two libraries, on both sides: as
// addresses, in maps by std::type_index, as types of exceptions, as pointers to members.
// SKIP-MODE: static a static program has no shared library
// CXXFLAGS: -std=c++17
// STEP: c++ -shared one.cpp -o libone.so
// STEP: c++ -shared two.cpp -o libtwo.so
// STEP: link main.cpp -L. -lone -ltwo -Wl,-rpath,$ORIGIN
// OUT: 15 of 15 are one
// OUT: made once: 1
// OUT: map 3 1 2
// OUT: caught 1 2
#include "shared.h"
#include <map>

ADDRESSES(FLICK_HOST static, main_host)
ADDRESSES(FLICK_NXP static, main_nxp)

static std::map<std::type_index, int> numbers;
FLICK_NXP static void add(const Base &b, int n) { numbers[typeid(b)] = n; }
FLICK_HOST static int find(const Base &b) { return numbers.at(typeid(b)); }

FLICK_NXP static int caught(void (*throws)()) {
  try {
    throws();
  } catch (const Thrown &t) {
    return t.from;
  }
  return 0;
}

int main() {
  addresses all[] = {main_host(), main_nxp(), one_host(), one_nxp(), two_host(), two_nxp()};
  std::size_t same = 0;
  for (std::size_t i = 0; i < all[0].size(); i++) {
    bool one = all[0][i] != nullptr;
    for (const addresses &a : all)
      one &= a[i] == all[0][i];
    same += one;
    if (!one)
      for (const addresses &a : all)
        std::fprintf(stderr, "%zu: %p\n", i, a[i]);
  }
  std::printf("%zu of %zu are one\n", same, all[0].size());
  std::printf("made once: %d\n", Made::times);
  Holder<int> i;
  Holder<long> l;
  Base *local = local_type();
  add(i, 1);
  add(l, 2);
  add(*local, 3);
  std::printf("map %d %d %d\n", find(*local), find(i), find(l));
  delete local;
  std::printf("caught %d %d\n", caught(one_throws), caught(two_throws));
}

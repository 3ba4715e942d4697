// What a mark means on each thing that C++ can put it on.
// RUN: %flickxx -std=c++20 -O0 -c %s -o %t.o && %links %t.o
// RUN: %places %t.o | cut -f 3-5 | llvm-cxxfilt-19 | sort >%t.places && FileCheck %s <%t.places
// RUN: not grep -e 'Both::over' -e '::other' %t.places
// RUN: %flickxx -std=c++20 -O2 -c %s -o %t.o && %links %t.o
#include <flick.h>

struct Left {
  virtual int over(int);
  int l;
};
struct Right {
  virtual int mixed(int);
  int r;
};
// CHECK-DAG: Both::Both(int) nxp mark
// CHECK-DAG: Both::~Both() nxp mark
// CHECK-DAG: {{^}}Both::mixed(int) nxp mark
// CHECK-DAG: virtual thunk to Both::mixed(int) nxp mark
// CHECK-DAG: Both::statics(int) nxp mark
// CHECK-DAG: Both::operator+(int) const nxp mark
// CHECK-DAG: Both::operator bool() const nxp mark
struct Both : Left, virtual Right {
  FLICK_NXP Both(int n);
  FLICK_NXP ~Both();
  int over(int) override;
  FLICK_NXP int mixed(int) override;
  FLICK_NXP static int statics(int);
  FLICK_NXP int operator+(int x) const;
  FLICK_NXP operator bool() const;
};
int Left::over(int x) { return x; }
int Right::mixed(int x) { return x; }
Both::Both(int n) { l = n; }
Both::~Both() { l = 0; }
int Both::over(int x) { return x + 1; }
int Both::mixed(int x) { return x + r; }
int Both::statics(int x) { return x; }
int Both::operator+(int x) const { return l + x; }
Both::operator bool() const { return l; }

// At the definition only.
struct Late {
  int f(int);
  int other(int x) { return x; }
};
// CHECK-DAG: Late::f(int) nxp mark
FLICK_NXP int Late::f(int x) { return x; }

// A template is marked at its declaration; its instances and specialisations have the mark.
template <class T> FLICK_NXP T twice(T x);
template <class T> T twice(T x) { return x + x; }
template <> char twice<char>(char x) { return x; }
// CHECK-DAG: int twice<int>(int) nxp mark
// CHECK-DAG: long twice<long>(long) nxp mark
// CHECK-DAG: char twice<char>(char) nxp mark
struct Maker {
  template <class T> FLICK_NXP T make(T x);
};
template <class T> T Maker::make(T x) { return x; }
// CHECK-DAG: int Maker::make<int>(int) nxp mark

// CHECK-DAG: user()::$_0::operator()(int) const nxp mark
int user() {
  Maker m;
  auto l = [](int x) FLICK_NXP { return x + 1; };
  int (*p)(int) = l;
  return twice(1) + twice(2L) + twice('x') + m.make(1) + l(2) + p(3) + Late().other(4);
}

// Cleanups, noexcept and `catch (...)` that throws on are no obstacle; landing pads are not in NxP
// code. RUN: flick -O0 -c $s -o $t.o && dis $t.o | check $s RUN: flick -O2 -c $s -o $t.o && dis
// $t.o | check $s RUN: flick -O2 -std=c++14 -c $s -o $t.o && dis $t.o | check $s RUN: links $t.o
// RUN: not flick -DTHROWS -c $s -o $t.o 2>&1 | check $s --check-prefix=ERROR
#include <flick.h>

int host(int);
struct Guard {
  int *p;
  Guard(int *p);
  ~Guard();
};

// CHECK-NOT: _Unwind_Resume
// CHECK-NOT: __cxa_
// CHECK-NOT: _ZSt9terminatev
// CHECK-NOT: __gxx_personality
// CHECK-LABEL: <__flick_nxp__Z5cleani>:
// CHECK: __flick_call__ZN5GuardC1EPi
// CHECK: __flick_call__Z4hosti
// CHECK: __flick_call__ZN5GuardD1Ev
// CHECK-NOT: __flick_call__ZN5GuardD1Ev
// CHECK-LABEL: <__flick_nxp__Z5quieti>:
FLICK_NXP int clean(int x) {
  Guard g(&x);
  return host(x);
}
FLICK_NXP int quiet(int x) noexcept { return host(x) + 1; }
// CHECK-LABEL: <__flick_nxp__Z7throwoni>:
// CHECK-NOT: __flick_call__Z3undi
FLICK_NXP int throwon(int x) {
  try {
    return host(x);
  } catch (...) {
    host(-x);
    throw;
  }
}
// CHECK-LABEL: <__flick_nxp__Z7untypedi>:
FLICK_NXP int untyped(int x) throw() { return host(x) + 2; }

// An inline function that catches stays on the host.
// CHECK: __flick_call__Z7catchesi
inline int catches(int x) {
  try {
    return host(x);
  } catch (int n) {
    return n;
  }
}
FLICK_NXP int user(int x) { return catches(x); }

#ifdef THROWS
// ERROR: unwind.cpp:[[@LINE+1]]:{{[0-9]+}}: error: {{.*}}[FLK0211] a throw in
FLICK_NXP int thrower(int x) {
  if (x)
    throw x;
  return x;
}
// ERROR: unwind.cpp:[[@LINE+1]]:{{[0-9]+}}: error: {{.*}}[FLK0211] a catch in
FLICK_NXP int catcher(int x) {
  try {
    return host(x);
  } catch (int n) {
    return n;
  }
}
// ERROR: unwind.cpp:[[@LINE+1]]:{{[0-9]+}}: error: {{.*}}[FLK0211] a catch in
FLICK_NXP int swallows(int x) {
  try {
    host(x);
  } catch (...) {
  }
  return x;
}
// ERROR: unwind.cpp:[[@LINE+1]]:{{[0-9]+}}: error: {{.*}}[FLK0211] a catch in
FLICK_NXP int leaves(int x) {
  try {
    host(x);
  } catch (...) {
    __builtin_abort();
  }
  return x;
}
#endif

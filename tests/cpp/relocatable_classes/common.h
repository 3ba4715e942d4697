#ifndef COMMON_H
#define COMMON_H
#include <flick.h>

template <int N> FLICK_NXP int power(int x) {
  int r = 1;
  for (int i = 0; i < N; i++)
    r *= x;
  return r;
}
inline int next() {
  static int n = 100;
  return ++n;
}
int one(int);
int two(int);
using function = int (*)(int);
function address_in_one();
function address_in_two();
#endif

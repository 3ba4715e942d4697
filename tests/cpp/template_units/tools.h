#ifndef TOOLS_H
#define TOOLS_H
#include <flick.h>

template <class T> FLICK_NXP T larger(T a, T b) { return a < b ? b : a; }
template <class T> T square(T x) { return x * x; }
template <class T> class Stack {
  T items[8];
  int n = 0;

public:
  FLICK_NXP Stack &push(T x) {
    items[n++] = x;
    return *this;
  }
  T top() const { return items[n - 1]; }
};
using function = int (*)(int, int);
int first_use(int);
int first_square(int);
int second_square(int);
function first_address();
function second_address();
#endif

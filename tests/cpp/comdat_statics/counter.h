#ifndef COUNTER_H
#define COUNTER_H
#include <flick.h>

inline int next() {
  static int counter = 0;
  return ++counter;
}
template <class T> struct Tally {
  static T sum;
  static T add(T x) { return sum += x; }
};
template <class T> T Tally<T>::sum = sizeof(T) == sizeof(long) ? 1 : 0;

int host_next();
int nxp_next();
int host_add(int);
int nxp_add(int);
int *host_where();
int *nxp_where();
#endif

#ifndef LIBRARY_H
#define LIBRARY_H
#include <flick.h>

#define API __attribute__((visibility("default")))
API int library_run(int);
API int library_inlined();
int hidden(int);
FLICK_NXP inline int inlined() {
  static int n = 0;
  return ++n;
}
#endif

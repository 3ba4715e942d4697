#ifndef INLINES_H
#define INLINES_H
#include <flick.h>

static inline int next_id(void) {
  static int id;
  return ++id;
}
inline int clamp(int x, int lo, int hi) { return x < lo ? lo : x > hi ? hi : x; }
static inline int scaled(int x) {
  int s = 0;
  for (int i = 0; i < 4; i++)
    s += x << i;
  return s;
}

FLICK_NXP int there(int x);
FLICK_NXP int there_id(void);
typedef int clamping(int, int, int);
clamping *there_address(void);
#endif

#include "members.h"
#include <flick.h>

static int offset = 3;
FLICK_NXP int second(int x) {
  offset += x;
  return x * 10 + offset;
}

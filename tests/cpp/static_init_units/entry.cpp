#include "log.h"

// Zero before any constructor runs, whichever unit comes first.
static int sum;

FLICK_NXP Entry::Entry(const char *n, int i) : name(n), number(i) {
  sum += number;
  note(name, number);
}
FLICK_NXP Entry::~Entry() { note(name, -number); }
FLICK_NXP int Entry::value() const { return number; }
FLICK_NXP int twice(int x) { return 2 * x; }
FLICK_NXP int total() { return sum; }

#include <flick.h>

int two(int);
static const char table[] = "abcdefgh";
FLICK_NXP static int helper(int x) { return table[x] - 'a'; }
FLICK_NXP int one(int x) { return helper(x) + (x > 0 ? two(x - 1) : 0); }

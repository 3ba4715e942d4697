#include <flick.h>

int one(int);
static const char table[] = "hgfedcba";
FLICK_NXP static int helper(int x) { return table[x] - 'a'; }
FLICK_NXP int two(int x) { return helper(x) * 3 + (x > 0 ? one(x - 1) : 0); }

#include <stdio.h>

char *wrapped(char *to, int x) { return to + sprintf(to, "base %d", x); }

#include "log.h"
#include <cstdio>

FLICK_HOST void note(const char *what, int number) { std::printf("%s %d\n", what, number); }

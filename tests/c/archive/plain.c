#include "members.h"

int plain(int x) { return x + 1; }

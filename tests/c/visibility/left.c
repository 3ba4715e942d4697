#define OFFSET 100
#define NAME(suffix) left##suffix
#include "library.h"

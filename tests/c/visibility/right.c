#define OFFSET 7
#define NAME(suffix) right##suffix
#include "library.h"

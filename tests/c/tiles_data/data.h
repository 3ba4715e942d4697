#include <flick.h>

#define ON_STORAGE FLICK_NXP_DATA_ON("storage")
#define ON_COMPUTE FLICK_NXP_DATA_ON("compute")

extern ON_COMPUTE int shared[4];
extern int counters[3];
extern int in_library[1000];
int *statics_of_library(void);

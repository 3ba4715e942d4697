/* Included first in runs with random placement: marks would win over the dice. */
#include <flick.h>
#undef FLICK_NXP
#undef FLICK_NXP_ON
#undef FLICK_HOST
#undef FLICK_BOTH
#undef FLICK_NXP_DATA
#undef FLICK_NXP_DATA_ON
#define FLICK_NXP
#define FLICK_NXP_ON(tile)
#define FLICK_HOST
#define FLICK_BOTH
#define FLICK_NXP_DATA
#define FLICK_NXP_DATA_ON(tile)
#define RANDOM_PLACEMENT

/* For the driver: the version of this library. No link takes this member. */
#include "../note.h"

/* The driver reads the version of this library here. No link takes this member. */
#include "flick_note.h"

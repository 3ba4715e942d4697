#include "shared.h"

FLICK_HOST function host_plain() { return plain; }
FLICK_HOST function host_marked() { return marked; }

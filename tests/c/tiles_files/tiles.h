#include <flick.h>

typedef long Function(long);

FLICK_NXP_ON("compute") long second(long x);
long named(long x);
long on_host(long x);
long in_library(long x);
FLICK_NXP Function *address_there(void);
FLICK_NXP int is_named(Function *f);
FLICK_NXP_ON("storage") long call(Function *f, long x);

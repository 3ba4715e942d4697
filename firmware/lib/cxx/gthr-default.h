/* Threads of libstdc++ are POSIX's: for its configure script alone. */
#undef GTHREAD_USE_WEAK
#define GTHREAD_USE_WEAK 0
#include "gthr-posix.h"

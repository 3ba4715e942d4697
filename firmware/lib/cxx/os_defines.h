/* What libstdc++ may use of the card's system. It includes this file before all others of its own.
   Its configure script cannot link, so it takes these for missing. */
#ifndef _GLIBCXX_OS_DEFINES
#define _GLIBCXX_OS_DEFINES 1

/* A weak reference would not bring the threads out of the static library. */
#define _GLIBCXX_GTHREAD_USE_WEAK 0

#define _GLIBCXX_HAVE_TLS 1
#define _GLIBCXX_USE_CLOCK_MONOTONIC 1
#define _GLIBCXX_USE_CLOCK_REALTIME 1
#define _GLIBCXX_USE_NANOSLEEP 1
#define _GLIBCXX_USE_SCHED_YIELD 1
#define _GLIBCXX_USE_SC_NPROCESSORS_ONLN 1

#define _GLIBCXX_HAVE_ALIGNED_ALLOC 1
#define _GLIBCXX_HAVE_POSIX_MEMALIGN 1
#define _GLIBCXX_HAVE_STRTOLD 1

#endif

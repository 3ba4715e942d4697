/* picolibc's, and the parts of POSIX that the card's library adds. */
#pragma once
#include_next <sys/features.h>

#define _POSIX_THREADS 200809L
#define _POSIX_THREAD_ATTR_STACKSIZE 200809L
#define _POSIX_BARRIERS 200809L
#define _POSIX_READER_WRITER_LOCKS 200809L
#define _POSIX_TIMERS 200809L
#define _POSIX_TIMEOUTS 200809L
#define _POSIX_MONOTONIC_CLOCK 200809L
#define _POSIX_CLOCK_SELECTION 200809L
#define _POSIX_PRIORITY_SCHEDULING 200809L

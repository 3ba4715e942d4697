// Times of POSIX as the kernel has them.
#pragma once
#include <stdint.h>
#include <time.h>

// A value of the machine's clock.
uint64_t __card_ticks(const struct timespec *time);

/* What the driver of the kernels needs of the system: hosted.c for a C library, bare.c for none. */
#ifndef PLATFORM_H
#define PLATFORM_H

#include <stddef.h>
#include <stdint.h>

/* Processor time of the process in nanoseconds: other work on the machine is not in it. */
uint64_t now(void);
/* To the standard output. */
void put(const char *text, size_t length);

#endif

/* The driver of the kernels needs these functions of the system. hosted.c has them with a C
 * library, and bare.c without. */
#ifndef PLATFORM_H
#define PLATFORM_H

#include <stddef.h>
#include <stdint.h>

/* Processor time of the process in nanoseconds: other work on the machine is not in it. */
uint64_t now(void);
/* To the standard output. */
void put(const char *text, size_t length);

#endif

/* What cells.txt counts on. */
#ifndef CELLS_H
#define CELLS_H
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <complex.h>
#include <ctype.h>
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "flick.h"
#include "record.h"

enum { INPUTS = 12 };
extern const double inputs[INPUTS], specials[INPUTS];
extern const unsigned long integers[INPUTS];
extern const char *const strings[INPUTS];
extern const char *const numbers[INPUTS];
extern const wchar_t wide[];
int compare(const void *, const void *);
int forward(const char *format, ...);

#define CELL FLICK_NXP __attribute__((noinline))
#define D(X) record_double(X)
#define F(X) record_float(X)
#define H(X) record_half((float)(X))
#define L(X) record_long((long)(X))
#define Q(X) record_wide((unsigned __int128)(X))
#define S(X) record_string(X)

#ifdef FAST
#define SPECIALS inputs
#else
#define SPECIALS specials
#endif
#ifdef STRICT
#define HALVES
#else
#define HALVES _Float16 h = (_Float16)(d / 65536), k = (_Float16)(e / 65536 + 1);
#endif

/* The inputs of a cell. All that is not used is gone at -O1. */
#define EACH(...)                                                                                  \
  for (int i = 0; i < INPUTS; i++) {                                                               \
    double d = inputs[i], e = inputs[(i + 1) % INPUTS];                                            \
    double x = SPECIALS[i], y = SPECIALS[(i + 5) % INPUTS];                                        \
    float f = (float)d, g = (float)e;                                                              \
    HALVES                                                                                         \
    unsigned long u = integers[i], v = integers[(i + 3) % INPUTS] | 1;                             \
    long l = (long)u, m = (long)(v >> 1 | 1);                                                      \
    unsigned __int128 o = (unsigned __int128)u << 64 | v;                                          \
    unsigned __int128 p = ((unsigned __int128)v << 64 | u) >> (i * 9) | 1;                         \
    __int128 q = (__int128)o, r = (__int128)(p >> 1 | 1);                                          \
    int n = (int)(u >> 7 & 15);                                                                    \
    char b[64] = "the quick brown fox jumps over the lazy dog";                                    \
    const char *s = strings[i], *t = strings[(i + 1) % INPUTS];                                    \
    const char *number = numbers[i];                                                               \
    {                                                                                              \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }

#endif

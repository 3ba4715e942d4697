/* 128-bit integers as two registers. The functions have the names and meanings of libgcc's
 * ("Routines for integer arithmetic", GCC internals manual). */
#ifndef NXP_INT128_H
#define NXP_INT128_H

#include "alias.h"

typedef __int128 i128;
typedef unsigned __int128 u128;

static inline uint64_t high(u128 a) { return a >> 64; }
static inline uint64_t low(u128 a) { return a; }
static inline u128 join(uint64_t high, uint64_t low) { return (u128)high << 64 | low; }
static inline u128 magnitude(i128 a) { return a < 0 ? -(u128)a : (u128)a; }
/* a != 0. */
static inline int leading_zeros(u128 a) {
  return high(a) != 0 ? __builtin_clzll(high(a)) : 64 + __builtin_clzll(low(a));
}

u128 __udivmodti4(u128 a, u128 b, u128 *remainder);

#endif

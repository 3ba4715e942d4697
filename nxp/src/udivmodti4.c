#include "int128.h"

/* high:low / b with high < b: Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D with
 * digits of 32 bits. */
static uint64_t divide_two_words(uint64_t high, uint64_t low, uint64_t b, uint64_t *remainder) {
  int shift = __builtin_clzll(b);
  b <<= shift;
  uint64_t b1 = b >> 32, b0 = (uint32_t)b;
  uint64_t top = shift == 0 ? high : high << shift | low >> (64 - shift);
  uint64_t rest = low << shift;
  uint64_t quotient = 0;
  for (int i = 0; i < 2; i++) {
    uint64_t next = i == 0 ? rest >> 32 : (uint32_t)rest;
    uint64_t q = top / b1, r = top % b1;
    while (q >> 32 != 0 || q * b0 > (r << 32 | next)) {
      q--;
      r += b1;
      if (r >> 32 != 0)
        break;
    }
    top = (top << 32 | next) - q * b;
    quotient = quotient << 32 | q;
  }
  *remainder = top >> shift;
  return quotient;
}

u128 __udivmodti4(u128 a, u128 b, u128 *remainder) {
  u128 quotient, rest;
  if (b > a) {
    quotient = 0;
    rest = a;
  } else if (high(b) == 0) {
    /* RV64's own quotient for a divisor of 0 is all ones; so is this one. */
    uint64_t d = low(b), r;
    if (d == 0) {
      quotient = -(u128)1;
      rest = a;
    } else {
      uint64_t q1 = high(a) / d;
      uint64_t q0 = divide_two_words(high(a) % d, low(a), d, &r);
      quotient = join(q1, q0);
      rest = r;
    }
  } else {
    /* The quotient has at most 64 bits; one subtraction for each that can be set. */
    int shift = leading_zeros(b) - leading_zeros(a);
    quotient = 0;
    rest = a;
    b <<= shift;
    for (; shift >= 0; shift--, b >>= 1) {
      quotient <<= 1;
      if (rest >= b) {
        rest -= b;
        quotient |= 1;
      }
    }
  }
  if (remainder != NULL)
    *remainder = rest;
  return quotient;
}
NXP_ALIAS(__udivmodti4);

#include "int128.h"

/* 0 <= n < 128. */
i128 __ashlti3(i128 a, int n) {
  if (n >= 64)
    return join(low(a) << (n - 64), 0);
  return n == 0 ? a : (i128)join(high(a) << n | low(a) >> (64 - n), low(a) << n);
}
NXP_ALIAS(__ashlti3);

i128 __lshrti3(i128 a, int n) {
  if (n >= 64)
    return high(a) >> (n - 64);
  return n == 0 ? a : (i128)join(high(a) >> n, low(a) >> n | high(a) << (64 - n));
}
NXP_ALIAS(__lshrti3);

i128 __ashrti3(i128 a, int n) {
  int64_t top = high(a);
  if (n >= 64)
    return top >> (n - 64);
  return n == 0 ? a : (i128)join(top >> n, low(a) >> n | high(a) << (64 - n));
}
NXP_ALIAS(__ashrti3);

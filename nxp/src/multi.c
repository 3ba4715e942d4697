#include "int128.h"

i128 __multi3(i128 a, i128 b) {
  u128 product = (u128)low(a) * low(b);
  return join(high(product) + low(a) * high(b) + high(a) * low(b), low(product));
}
NXP_ALIAS(__multi3);

i128 __muloti4(i128 a, i128 b, int *overflow) {
  u128 x = magnitude(a), y = magnitude(b);
  u128 cross = (u128)high(x) * low(y) + (u128)low(x) * high(y);
  u128 product = (u128)low(x) * low(y);
  u128 upper = cross + high(product);
  int wide = (high(x) != 0 && high(y) != 0) || high(upper) != 0;
  u128 result = join(low(upper), low(product));
  u128 limit = ((u128)1 << 127) - ((a < 0) == (b < 0));
  *overflow = wide || result > limit;
  return (a < 0) != (b < 0) ? -result : result;
}
NXP_ALIAS(__muloti4);

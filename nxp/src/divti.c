#include "int128.h"

u128 __udivti3(u128 a, u128 b) { return __udivmodti4(a, b, NULL); }
NXP_ALIAS(__udivti3);

u128 __umodti3(u128 a, u128 b) {
  u128 rest;
  __udivmodti4(a, b, &rest);
  return rest;
}
NXP_ALIAS(__umodti3);

i128 __divti3(i128 a, i128 b) {
  u128 quotient = __udivmodti4(magnitude(a), magnitude(b), NULL);
  return (a < 0) != (b < 0) ? -quotient : quotient;
}
NXP_ALIAS(__divti3);

i128 __modti3(i128 a, i128 b) {
  u128 rest;
  __udivmodti4(magnitude(a), magnitude(b), &rest);
  return a < 0 ? -rest : rest;
}
NXP_ALIAS(__modti3);

i128 __divmodti4(i128 a, i128 b, i128 *remainder) {
  u128 rest;
  u128 quotient = __udivmodti4(magnitude(a), magnitude(b), &rest);
  *remainder = a < 0 ? -rest : rest;
  return (a < 0) != (b < 0) ? -quotient : quotient;
}
NXP_ALIAS(__divmodti4);

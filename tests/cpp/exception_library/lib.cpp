#include "error.h"

Error::~Error() = default;

FLICK_NXP int library_throws(int what) {
  if (what == 1)
    throw Error(17);
  if (what == 2)
    throw Value<long>{23};
  if (what == 3)
    throw "text";
  return what;
}
FLICK_NXP int library_catches(int (*f)(int), int what) {
  try {
    return f(what);
  } catch (const Error &e) {
    return 1000 + e.code;
  } catch (const Value<long> &v) {
    return 2000 + static_cast<int>(v.value);
  }
}

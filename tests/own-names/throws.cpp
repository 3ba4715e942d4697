// Exceptions over the frames of both sides.
#include <flick.h>
#include <string>
extern "C" int throws(int n);
FLICK_HOST static int host(int n) {
  if (n == 0)
    throw std::string("from the host");
  return n;
}
FLICK_NXP __attribute__((noinline)) static int nxp(int n) {
  if (n == 1)
    throw 5;
  return host(n - 2);
}
FLICK_NXP int throws(int n) {
  int s = 0;
  for (int i = 1; i < n; i++)
    try {
      s += nxp(i % 3);
    } catch (int x) {
      s += x;
    } catch (const std::string &x) {
      s += (int)x.size();
    }
  return s;
}

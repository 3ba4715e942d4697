// Exceptions thrown and caught on the host with NxP frames further up the stack, thrown again and
// nested, with destructors of host frames between.
#include <cstdio>
#include <flick.h>
#include <stdexcept>

struct Trace {
  const char *name;
  explicit Trace(const char *n) : name(n) {}
  ~Trace() { std::printf("leave %s\n", name); }
};
FLICK_NXP static int nxp_leaf(int x) { return x * 2; }
FLICK_HOST static void thrower(int x) {
  Trace t("thrower");
  if (x == 1)
    throw std::runtime_error("one");
  if (x == 2)
    throw nxp_leaf(21);
  if (x == 3)
    throw Trace("object");
}
FLICK_HOST static int catcher(int x) {
  Trace t("catcher");
  try {
    try {
      thrower(x);
    } catch (const std::runtime_error &e) {
      std::printf("inner %s\n", e.what());
      throw std::logic_error(e.what());
    }
  } catch (const std::logic_error &e) {
    return 100 + e.what()[0];
  } catch (int i) {
    return i + nxp_leaf(1);
  } catch (...) {
    std::puts("other");
    return 3;
  }
  return 0;
}
FLICK_NXP static int middle(int x) { return catcher(x) + 1000; }
FLICK_HOST static int again(int x) { return middle(x); }
FLICK_NXP static int outer(int x) { return again(x) + again(0); }

int main() {
  for (int i = 0; i < 4; i++)
    std::printf("%d\n", outer(i));
}

// Equal names in the anonymous namespaces of two units, in nested and inline namespaces, in
// argument lookup and in overload sets, on different sides.
// OUT: 101 199 102 198
// OUT: 2 15 97 503
// OUT: 8 2 1 20
#include "names.h"
#include <cstdio>

namespace {
int state = 100;
FLICK_NXP int helper(int x) { return state += x; }
struct Local {
  int v = 1;
  FLICK_NXP virtual int get() { return v; }
  virtual ~Local() = default;
};
} // namespace
namespace app {
FLICK_NXP int run(int x) { return x + 1; }
FLICK_HOST int run(double x) { return static_cast<int>(x * 10); }
FLICK_NXP int run(const char *s) { return s[0]; }
namespace inner {
FLICK_NXP int run(int x) { return app::run(x) + app::run(0.5) * 100; }
struct Tag {
  int n;
};
FLICK_NXP int found(Tag t) { return t.n * 2; }
} // namespace inner
inline namespace v2 {
FLICK_NXP int versioned() { return 2; }
} // namespace v2
} // namespace app

int main() {
  Local l;
  int a = helper(1), b = other_helper(1), c = helper(1), d = other_helper(1);
  std::printf("%d %d %d %d\n", a, b, c, d);
  std::printf("%d %d %d %d\n", app::run(1), app::run(1.5), app::run("a"), app::inner::run(2));
  std::printf("%d %d %d %d\n", found(app::inner::Tag{4}), app::versioned(), l.get(), other_local());
}

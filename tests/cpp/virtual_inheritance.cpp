// A virtual base reached over two paths: construction tables, offsets to the base, and calls
// through the virtual base on both sides, also while the object is under construction.
#include <cstdio>
#include <flick.h>

FLICK_HOST static void say(const char *who, const char *what, int n) {
  std::printf("%s %s %d\n", who, what, n);
}
struct Root {
  int value;
  FLICK_NXP explicit Root(int v) : value(v) { describe(); }
  virtual ~Root() = default;
  FLICK_NXP virtual void describe() { say("root", "value", value); }
};
struct Left : virtual Root {
  int left = 1;
  FLICK_NXP Left() : Root(-1) { describe(); }
  FLICK_NXP void describe() override { say("left", "value", value + left); }
};
struct Right : virtual Root {
  int right = 2;
  FLICK_HOST Right() : Root(-2) { describe(); }
  FLICK_HOST void describe() override { say("right", "value", value + right); }
};
struct Bottom : Left, Right {
  int bottom = 3;
  FLICK_NXP Bottom() : Root(100) { describe(); }
  FLICK_NXP void describe() override { say("bottom", "value", value + left + right + bottom); }
};
FLICK_NXP static void on_nxp(Root *r) { r->describe(); }
FLICK_HOST static void on_host(Root *r) { r->describe(); }
FLICK_NXP static int sum(Left &l, Right &r) { return l.value + r.value + l.left + r.right; }

int main() {
  Bottom b;
  Left l;
  Right r;
  on_nxp(&b);
  on_host(&b);
  on_nxp(&l);
  on_nxp(&r);
  on_host(&l);
  std::printf("%d\n", sum(b, b));
}

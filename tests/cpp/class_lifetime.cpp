// Constructors and destructors of members, bases, arrays and temporaries run in the same order on
// either side, each class with some of them placed.
#include <cstdio>
#include <flick.h>

static int depth;
FLICK_HOST static void say(const char *what, int id) {
  std::printf("%*s%s %d\n", 2 * depth, "", what, id);
}

struct Part {
  int id;
  FLICK_NXP explicit Part(int i) : id(i) { say("part", id); }
  FLICK_NXP Part(const Part &p) : id(p.id + 100) { say("copy", id); }
  FLICK_NXP ~Part() { say("~part", id); }
};
struct Base {
  Part first;
  FLICK_HOST explicit Base(int i) : first(i) { say("base", i); }
  FLICK_NXP ~Base() { say("~base", first.id); }
};
struct Whole : Base {
  Part second, third;
  FLICK_NXP Whole() : Base(1), second(2), third(second) { say("whole", 0); }
  FLICK_HOST ~Whole() { say("~whole", 0); }
};

FLICK_NXP static int by_value(Part p) { return p.id; }
FLICK_NXP static int on_nxp() {
  depth = 1;
  Whole w;
  Part rows[2] = {Part(7), Part(8)};
  int sum = by_value(w.third) + rows[1].id;
  return sum + Part(9).id;
}
FLICK_HOST static int on_host() {
  depth = 2;
  Whole w;
  Part rows[2] = {Part(7), Part(8)};
  int sum = by_value(w.third) + rows[1].id;
  return sum + Part(9).id;
}

int main() {
  int a = on_nxp(), b = on_host();
  std::printf("%d %d\n", a, b);
}

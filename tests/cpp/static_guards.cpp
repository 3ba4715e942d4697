// Function-local statics with constructors: the guard is one for both sides, so the object is made
// once, by whoever comes first, and destroyed once.
// OUT: made host 1
// OUT: made nxp 2
// OUT: 1 1 2 2 1 1
// OUT: one 1
// OUT: gone nxp 2
// OUT: gone host 1
#include <cstdio>
#include <flick.h>

FLICK_HOST static void say(const char *what, const char *name, int id) {
  std::printf("%s %s %d\n", what, name, id);
}
static int made;
struct Single {
  const char *name;
  int id;
  FLICK_NXP explicit Single(const char *n) : name(n), id(++made) { say("made", name, id); }
  FLICK_NXP ~Single() { say("gone", name, id); }
};

FLICK_HOST static Single &on_host() {
  static Single s("host");
  return s;
}
FLICK_NXP static Single &on_nxp() {
  static Single s("nxp");
  return s;
}
FLICK_NXP static int host_twice() { return on_host().id + on_host().id; }
FLICK_NXP static int lazily(int x) {
  static const int first = x;
  return first;
}

int main() {
  int a = on_host().id, b = host_twice() / 2, c = on_nxp().id, d = on_nxp().id;
  int e = lazily(1), f = lazily(2);
  std::printf("%d %d %d %d %d %d\n", a, b, c, d, e, f);
  std::printf("one %d\n", &on_nxp() == &on_nxp());
}

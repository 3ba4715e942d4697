// A class of a shared library, its vtable and type information there, derived from in the program;
// dynamic_cast and an inline static across the boundary, objects deleted on the other side.
// SKIP-MODE: static a static program has no shared library
// STEP: c++ -shared library.cpp -o liblibrary.so
// STEP: link main.cpp -L. -llibrary -Wl,-rpath,$ORIGIN
// OUT: 234 7 2
// OUT: mine animal
// OUT: 0 0
#include "library.h"
#include <cstdio>

struct Mine : Animal {
  FLICK_NXP ~Mine() override { count()--; }
  FLICK_NXP int legs() const override { return 3; }
  FLICK_HOST const char *name() const override { return "mine"; }
};
FLICK_NXP static int sum(const Animal &a, const Animal &b) {
  const Dog *d = dynamic_cast<const Dog *>(&b);
  return a.legs() * 10 + b.legs() + (d ? d->barks : 0) + (dynamic_cast<const Dog *>(&a) != nullptr);
}

int main() {
  Animal *m = new Mine, *d = make_dog(200);
  std::printf("%d %d %d\n", sum(*m, *d), library_sum(*m, *d), count());
  std::printf("%s %s\n", m->name(), d->name());
  library_delete(m);
  delete d;
  std::printf("%d %d\n", count(), library_count());
}

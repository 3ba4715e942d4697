// Four modules with images and one runtime: the program, two libraries that know each other's
// classes, and a plug-in opened later; objects and callbacks travel among all of them, an inline
// variable is one object.
// SKIP-MODE: static a static program has no shared library
// STEP: c++ -shared first.cpp -o libfirst.so
// STEP: c++ -shared second.cpp -L. -lfirst -Wl,-rpath,$ORIGIN -o libsecond.so
// STEP: c++ -shared third.cpp -L. -lfirst -Wl,-rpath,$ORIGIN -o third.so
// STEP: link main.cpp -L. -lsecond -lfirst -ldl -Wl,-rpath,$ORIGIN
// OUT: 44020 12012 16019 9
// OUT: 0 1
#include "parts.h"
#include <cstdio>
#include <dlfcn.h>

struct Own : Part {
  FLICK_NXP int work(int x) override { return x + ++shared_count * 1000; }
};
FLICK_NXP static int all(Part *const *parts, int n, int x) {
  for (int i = 0; i < n; i++)
    x = parts[i]->work(x);
  return x;
}

int main() {
  void *library = dlopen("./third.so", RTLD_NOW);
  if (!library) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  auto third = reinterpret_cast<Part *(*)(Part *)>(dlsym(library, "third_make"));
  Own own;
  Part *a = first_make(&own), *b = second_make(a), *c = third(b);
  Part *parts[] = {&own, a, b, c};
  int x = all(parts, 4, 1), y = c->work(2), z = first_run(c, 3), count = shared_count;
  std::printf("%d %d %d %d\n", x, y, z, count);
  first_drop(c);
  delete b;
  first_drop(a);
  std::printf("%d %d\n", dlclose(library), first_alive());
}

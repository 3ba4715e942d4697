// Plug-ins opened with dlopen: a factory makes objects of classes that the program does not know;
// they are called and deleted from both sides, the plug-in closed and opened again.
// SKIP-MODE: static a static program cannot use dlopen here
// STEP: c++ -shared -fvisibility=hidden plugin.cpp -o plugin.so
// STEP: link main.cpp -ldl
// OUT: 3003 3202
// OUT: closed 0
// OUT: 3007 3202
// OUT: closed 0
// OUT: 3011 3202
// OUT: closed 0
#include "plugin.h"
#include <cstdio>
#include <dlfcn.h>

FLICK_NXP static int use(Filter *f, int x) { return f->apply(x) + f->apply(x + 1); }
FLICK_NXP static void drop(Filter *f) { delete f; }
struct Double : Filter {
  FLICK_NXP int apply(int x) override { return 2 * x; }
};

int main() {
  for (int i = 0; i < 3; i++) {
    void *library = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      std::printf("%s\n", dlerror());
      return 1;
    }
    auto make = reinterpret_cast<Filter *(*)(Filter *)>(dlsym(library, "make_filter"));
    Double own;
    Filter *f = make(&own);
    int a = use(f, i), b = f->apply(100);
    std::printf("%d %d\n", a, b);
    if (i % 2)
      delete f;
    else
      drop(f);
    std::printf("closed %d\n", dlclose(library));
  }
}

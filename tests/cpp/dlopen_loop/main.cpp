// Two plug-ins opened and closed in turn many times, sometimes both at once, also by threads:
// images come and go, static constructors and destructors run each time, addresses are used again.
// SKIP-MODE: static a static program cannot use dlopen here
// SKIP-VALGRIND: forty loads take long there
// STEP: c++ -shared -DNUMBER=1 plugin.cpp -o one.so
// STEP: c++ -shared -DNUMBER=2 plugin.cpp -o two.so
// STEP: link main.cpp -rdynamic -ldl -lpthread
// OUT: 40 loads, sum 7770
// OUT: threads 120
#include "plugin.h"
#include <cstdio>
#include <dlfcn.h>
#include <flick.h>
#include <thread>

int constructed;
FLICK_NXP void note(int n) { __atomic_fetch_add(&constructed, n, __ATOMIC_SEQ_CST); }
FLICK_NXP static int call(int (*f)(int), int x) { return f(x) + f(x); }

struct Opened {
  void *library;
  explicit Opened(const char *name) : library(dlopen(name, RTLD_NOW)) {
    if (!library)
      std::printf("%s\n", dlerror());
  }
  ~Opened() { dlclose(library); }
  int run(int x) const {
    return call(reinterpret_cast<int (*)(int)>(dlsym(library, "plugin_run")), x);
  }
};
static void many(int n, int *sum) {
  for (int i = 0; i < n; i++)
    *sum += Opened(i % 2 ? "./one.so" : "./two.so").run(0);
}

int main() {
  int sum = 0;
  for (int i = 0; i < 20; i++) {
    Opened one("./one.so");
    sum += one.run(i);
    Opened two("./two.so");
    sum += two.run(i);
    if (i % 4 == 0)
      sum += Opened("./one.so").run(0);
  }
  std::printf("%d loads, sum %d\n", constructed % 100, sum + constructed / 100);
  int a = 0, b = 0;
  std::thread t(many, 20, &a), u(many, 20, &b);
  t.join(), u.join();
  std::printf("threads %d\n", a + b);
}

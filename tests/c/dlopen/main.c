// A library with an image that dlopen brings in at run time, several times: dlsym's address calls
// its NxP function from both sides, callbacks lead back, constructors run.
// SKIP-MODE: static a static program cannot use dlopen here
// STEP: cc -shared -fPIC plugin.c -o plugin.so
// STEP: link main.c -ldl
#include <dlfcn.h>
#include <flick.h>
#include <stdio.h>

typedef int work(int (*)(int), int);

FLICK_HOST static int host_callback(int x) { return x + 1; }
FLICK_NXP static int nxp_callback(int x) { return x * 2; }
FLICK_NXP static int from_nxp(work *f, int x) { return f(nxp_callback, x) - f(host_callback, x); }

int main(void) {
  for (int i = 0; i < 3; i++) {
    void *library = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      printf("%s\n", dlerror());
      return 1;
    }
    work *f = (work *)dlsym(library, "plugin_work");
    int *loads = dlsym(library, "plugin_loads");
    work *(*own)(void) = (work * (*)(void)) dlsym(library, "plugin_address");
    int a = f(host_callback, i), b = f(nxp_callback, i), c = from_nxp(f, 10);
    printf("%d %d %d %d %d\n", a, b, c, *loads, own() == f);
    printf("%d\n", dlclose(library));
  }
}

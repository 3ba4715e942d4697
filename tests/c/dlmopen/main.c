// Libraries with images that dlmopen loads into namespaces of their own, each with a C library of
// its own: their functions run on the host there; threads call them and end; they call back.
// CROSSINGS: host-to-nxp>=4
// ENV: FLICK_OFFLOAD=auto
// SKIP-MODE: static a static program cannot use dlmopen here
// SKIP-VALGRIND: valgrind 3.19 knows one namespace
// STEP: cc -shared -fPIC plugin.c -o plugin.so
// STEP: link main.c -ldl -lpthread
// SKIP-ASAN: the sanitizer is not in the other namespace
#define _GNU_SOURCE
#include <dlfcn.h>
#include <flick.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef int Work(int (*)(int), int);
typedef int Next(void);

static void *libraries[2];

FLICK_NXP static int twice(int x) { return x * 2; }
FLICK_HOST static int more(int x) { return x + 1; }

FLICK_NXP static void use(void *library, int x) {
  Work *work = (Work *)dlsym(library, "work");
  Next *next = (Next *)dlsym(library, "next");
  int n = next();
  int a = work(twice, x), b = work(more, x);
  printf("%d %d %d\n", n, a, b);
}

static void *thread(void *library) {
  use(library, 6);
  return NULL;
}

int main(void) {
  for (int i = 0; i < 2; i++) {
    libraries[i] = dlmopen(LM_ID_NEWLM, "./plugin.so", RTLD_NOW);
    if (!libraries[i]) {
      printf("%s\n", dlerror());
      return 1;
    }
    for (int k = 0; k < i; k++)
      ((Next *)dlsym(libraries[i], "next"))();
    use(libraries[i], 1);
    pthread_t id;
    pthread_create(&id, NULL, thread, libraries[i]);
    pthread_join(id, NULL);
  }
}

// A library with an image is opened, called and closed two hundred times, also two copies at once
// and while a thread is on the NxP: no mapping, file or page of it stays behind.
// SKIP-MODE: static a static program cannot use dlopen here
// SKIP-VALGRIND: it keeps records of every library, which are mappings
// STEP: cc -shared -fPIC plugin.c -o one.so
// STEP: cc -shared -fPIC plugin.c -o two.so
// STEP: link main.c -ldl
// LIBS: -lpthread
// OUT: 200 loads, mappings 0 files 0 pages 1
// SKIP-ASAN: mappings and pages are the sanitizer's, too
#include <dlfcn.h>
#include <flick.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int stop;
FLICK_NXP static void *busy(void *count) {
  while (!stop)
    ++*(volatile long *)count;
  return NULL;
}
FLICK_NXP static int call(int (*f)(int), int x) { return f(x); }

static int use(const char *path, int x) {
  void *library = dlopen(path, RTLD_NOW);
  int (*twice)(int) = library ? (int (*)(int))dlsym(library, "twice") : NULL;
  return twice && call(twice, x) == 2 * x && twice(x) == 2 * x && dlclose(library) == 0;
}
static int both(int x) {
  void *one = dlopen("./one.so", RTLD_NOW);
  int good = use("./two.so", x);
  return good && one && dlclose(one) == 0;
}

static int mappings(void) {
  FILE *f = fopen("/proc/self/maps", "r");
  int lines = 0;
  for (int c; (c = getc(f)) != EOF;)
    lines += c == '\n';
  fclose(f);
  return lines;
}
static long pages(void) {
  FILE *f = fopen("/proc/self/statm", "r");
  long all, resident;
  int n = fscanf(f, "%ld %ld", &all, &resident);
  fclose(f);
  return n == 2 ? resident : -1;
}

int main(void) {
  int loads = 0;
  long count = 0;
  pthread_t t;
  pthread_create(&t, NULL, busy, &count);
  // It has its NxP stack, which is a mapping.
  while (!*(volatile long *)&count)
    sched_yield();
  // Until all that is hot is translated.
  for (int i = 0; i < 100; i++)
    both(i);
  int m = mappings(), f = dup(0);
  long p = pages();
  for (int i = 0; i < 100; i++)
    loads += both(i) ? 2 : 0;
  int next = dup(0);
  printf("%d loads, mappings %d files %d pages %d\n", loads, mappings() > m + 1, next - f - 1,
         pages() - p < 100);
  stop = 1;
  pthread_join(t, NULL);
}

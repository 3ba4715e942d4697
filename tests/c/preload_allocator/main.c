// Another allocator comes in front of everything by LD_PRELOAD: it serves the program, libraries
// and NxP code alike, and takes back each block that either side frees.
// SKIP-MODE: static a static program has no allocator of a library
// STEP: host-cc -shared -fPIC -fno-builtin allocator.c -o liballocator.so
// STEP: link main.c
// ENV: LD_PRELOAD=./liballocator.so
// LIBS: -ldl -lpthread
// OUT: allocator there, blocks right 1, its own 1, left 0
// SKIP-VALGRIND: valgrind replaces the allocator
// SKIP-ASAN: the heap is the sanitizer's there
#define _GNU_SOURCE
#include <dlfcn.h>
#include <flick.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 200 };
static int (*owns)(const void *);
static int wrong, foreign;

FLICK_NXP static char *make_nxp(int i) {
  char *p = i % 3 == 0   ? malloc((size_t)i * 7 + 1)
            : i % 3 == 1 ? calloc((size_t)i + 1, 3)
                         : aligned_alloc(64, 64 * ((size_t)i % 4 + 1));
  return memset(p, i, (size_t)i + 1);
}
FLICK_HOST static char *make_host(int i) { return memset(strdup("a string of some length"), i, 1); }
FLICK_NXP static void drop_nxp(char *p, int i) {
  wrong += p[0] != (char)i;
  p = i % 4 < 2 ? realloc(p, 3000) : reallocarray(p, 30, 100);
  foreign += !owns(p);
  wrong += p[0] != (char)i || malloc_usable_size(p) < 3000;
  free(p);
}
FLICK_HOST static void drop_host(char *p, int i) {
  wrong += p[0] != (char)i;
  p = reallocarray(p, 40, 100);
  foreign += !owns(p);
  wrong += p[0] != (char)i;
  free(p);
}
static void *churn(void *arg) {
  char *blocks[BLOCKS];
  for (int i = 0; i < BLOCKS; i++)
    blocks[i] = i % 2 ? make_nxp(i) : make_host(i);
  for (int i = 0; i < BLOCKS; i++)
    if (i / 2 % 2)
      drop_nxp(blocks[i], i);
    else
      drop_host(blocks[i], i);
  return arg;
}

int main(void) {
  *(void **)&owns = dlsym(RTLD_DEFAULT, "allocator_owns");
  long (*used)(void) = (long (*)(void))dlsym(RTLD_DEFAULT, "allocator_used");
  if (!owns || !used)
    return puts("no allocator");
  void *p = flick_alloc(FLICK_MEM_NXP, 100);
  memset(p, 1, 100);
  flick_free(p);
  churn(NULL);
  long before = used();
  pthread_t t;
  churn(NULL);
  long after = used();
  pthread_create(&t, NULL, churn, NULL);
  pthread_join(t, NULL);
  printf("allocator there, blocks right %d, its own %d, left %ld\n", wrong == 0, foreign == 0,
         after - before);
}

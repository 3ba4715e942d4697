// A library in front of everything by LD_PRELOAD defines what the runtime needs of the C library:
// the runtime uses the C library's.
// SKIP-MODE: static a static program preloads nothing
// STEP: host-cc -shared -fPIC -fno-builtin -w own.c -o libown.so
// STEP: link main.c
// ENV: LD_PRELOAD=./libown.so
// LIBS: -lpthread
// OUT: 55 55 1
// SKIP-VALGRIND: valgrind itself is another program there
// SKIP-ASAN: the sanitizer calls them
#include <flick.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int plus(int x, int y) { return x + y; }
FLICK_NXP static int sum(int n) { return n ? plus(n, sum(n - 1)) : 0; }
FLICK_NXP static int blocks(void) {
  volatile char *p = malloc(100000);
  p[5] = 1;
  int x = p[5];
  free((void *)p);
  return x;
}
static void *thread(void *result) {
  *(int *)result = sum(10);
  return NULL;
}
int main(void) {
  pthread_t other;
  int result = 0;
  pthread_create(&other, NULL, thread, &result);
  pthread_join(other, NULL);
  printf("%d %d %d\n", sum(10), result, blocks());
  return 0;
}

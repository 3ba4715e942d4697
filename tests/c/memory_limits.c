// Limits of memory. What Flick only reserves is not charged (vm.overcommit_memory=2 would count
// it), NxP code's malloc fails with ENOMEM where the limit of writable memory is reached and goes
// on when some is free again, and a thread can cross under a limit that leaves it little.
// OUT: charged 1
// OUT: host 1 1 1
// OUT: nxp 1 1 1
// OUT: thread 40
// LIBS: -pthread
// SKIP-VALGRIND: valgrind's own memory counts
// SKIP-RANDOM: what one heap leaves to the other is counted, and the heaps go with the placement
// SKIP-ASAN: what the sanitizer maps is beyond the limits
#include <errno.h>
#include <flick.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { MIB = 1 << 20, MOST = 200 };

// Kilobytes of the mappings that the kernel charges (proc(5), VmFlags "ac").
static long charged(void) {
  FILE *f = fopen("/proc/self/smaps", "r");
  char line[300];
  long size = 0, sum = 0;
  while (fgets(line, sizeof line, f)) {
    sscanf(line, "Size: %ld", &size);
    if (!strncmp(line, "VmFlags:", 8) && strstr(line, " ac"))
      sum += size;
  }
  fclose(f);
  return sum;
}
static long data_size(void) {
  FILE *f = fopen("/proc/self/status", "r");
  char line[300];
  long size = 0;
  while (fgets(line, sizeof line, f))
    sscanf(line, "VmData: %ld", &size);
  fclose(f);
  return size;
}
static void limit_data(long kilobytes) {
  struct rlimit r = {(rlim_t)kilobytes << 10, RLIM_INFINITY};
  setrlimit(RLIMIT_DATA, &r);
}

static inline __attribute__((always_inline)) int exhaust(int which) {
  static void *blocks[MOST];
  // clang believes that malloc leaves errno alone.
  volatile int *error = &errno;
  int n = 0, good = 0;
  *error = 0;
  while (n < MOST && (blocks[n] = malloc(MIB)))
    memset(blocks[n++], 1, 100);
  good += which == 0 && n >= 8 && n < MOST;
  good += which == 1 && !blocks[n < MOST ? n : 0] && *error == ENOMEM;
  for (int i = 0; i < n; i++)
    free(blocks[i]);
  void *again = malloc(MIB);
  good += which == 2 && again != NULL;
  free(again);
  return good;
}
FLICK_NXP static int exhaust_nxp(int which) { return exhaust(which); }
FLICK_HOST static int exhaust_host(int which) { return exhaust(which); }
FLICK_NXP static void *work(void *arg) {
  int *p = malloc(sizeof *p);
  *p = 4;
  *(int *)arg += *p * 10;
  free(p);
  return NULL;
}

int main(void) {
  int first = 0, later = 0;
  work(&first);
  printf("charged %d\n", charged() < 256 << 10);
  limit_data(data_size() + (40 << 10));
  int h0 = exhaust_host(0), h1 = exhaust_host(1);
  printf("host %d %d %d\n", h0, h1, exhaust_host(2));
  int n0 = exhaust_nxp(0), n1 = exhaust_nxp(1);
  printf("nxp %d %d %d\n", n0, n1, exhaust_nxp(2));
  pthread_attr_t small;
  pthread_t t;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 128 << 10);
  // What exhausting the heap has left depends on the sizes of its parts.
  limit_data(data_size() + 512);
  if (pthread_create(&t, &small, work, &later))
    return 1;
  pthread_join(t, NULL);
  printf("thread %d\n", later);
}

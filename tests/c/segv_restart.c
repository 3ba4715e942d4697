// A SIGSEGV handler makes the page accessible and returns: the NxP access is made again, for loads,
// stores, floating point and atomics. Expects each value as if nothing had happened.
// OUT: 17191 3f3f3f3f3f3f3f3f 1 1
// OUT: 1001 bbb 2 2
// OUT: 1001 405f500000000000 3 3
// OUT: 4557430888798830399 3f3f3f3f3f3f432a 4 4
// OUT: -20 ecececececececec 5 5
// OUT: 2 3f3f3f3f3f3f3f3f 6 6
// SKIP-VALGRIND: memcheck reports the accesses that are the subject
#define _GNU_SOURCE
#include <flick.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static char *page;
static volatile sig_atomic_t faults, good;

static void handler(int signal, siginfo_t *info, void *context) {
  (void)context;
  faults++;
  char *p = info->si_addr;
  good += signal == SIGSEGV && p >= page && p < page + 4096;
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

FLICK_NXP static long touch(int how, char *p, long v) {
  switch (how) {
  case 0:
    return *(volatile unsigned short *)p + v;
  case 1:
    *(volatile long *)p = v * 3;
    return v;
  case 2:
    *(volatile double *)p = (double)v / 8;
    return v - 1;
  case 3:
    return atomic_fetch_add((_Atomic long *)p, v);
  case 4:
    memset(p, (int)v, 100);
    return p[99];
  case 5:
    return (long)(*(volatile float *)p * 4);
  }
  return 0;
}

int main(void) {
  struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &a, NULL);
  page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int how = 0; how < 6; how++) {
    memset(page, 0x3f, 4096);
    mprotect(page, 4096, PROT_NONE);
    long r = touch(how, page + 64 * how, 1000 + how);
    long now;
    memcpy(&now, page + 64 * how, sizeof now);
    printf("%ld %lx %d %d\n", r, (unsigned long)now, faults, good);
  }
}

// A SIGSEGV handler for NxP code itself calls NxP functions, and faults again inside one of them
// (SA_NODEFER): nested faults and crossings, all of which return.
// OUT: 42 4 4
// OUT: 41 0 1 2
// SKIP-VALGRIND: memcheck reports the bad accesses that are the subject
#define _GNU_SOURCE
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

static char *pages;
static volatile sig_atomic_t depth, deepest, handled;

FLICK_NXP static int page_of(const char *p) { return (int)((p - pages) / 4096); }
FLICK_NXP static int touch(char *p, int v) {
  *(volatile char *)p = (char)v;
  return *p + 1;
}

static void handler(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  handled++;
  if (++depth > deepest)
    deepest = depth;
  int page = page_of(info->si_addr);
  if (page < 3)
    touch(pages + 4096 * (page + 1), page);
  mprotect(pages + (long)4096 * page, 4096, PROT_READ | PROT_WRITE);
  depth--;
}

int main(void) {
  pages = mmap(NULL, 4 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGSEGV, &a, NULL);
  int r = touch(pages, 41);
  printf("%d %d %d\n", r, handled, deepest);
  printf("%d %d %d %d\n", pages[0], pages[4096], pages[8192], pages[12288]);
}

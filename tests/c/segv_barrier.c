// Read and write barriers of a garbage collector: pages without access, or without writing, are
// opened by the SIGSEGV handler, which returns, and the access is made again as if nothing had
// happened: loads, stores, compare-exchange, atomics of a byte, structures, string functions of the
// NxP, and of the host called from NxP code; by handlers of both sides, on an alternate stack, in
// several threads. A system call reports EFAULT instead.
// OUT: host handler 26 accesses 26 faults
// OUT: NxP handler 26 accesses 26 faults
// OUT: threads 4 right, system call 1
// LIBS: -pthread
// SKIP-VALGRIND: memcheck reports the accesses that are the subject
#define _GNU_SOURCE
#include <errno.h>
#include <flick.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64, KINDS = 13 };
static char *heap;
static atomic_int faults, strange;

static inline __attribute__((always_inline)) void open_page(siginfo_t *info) {
  char *p = (char *)((unsigned long)info->si_addr & -(unsigned long)PAGE);
  int mine = info->si_code == SEGV_ACCERR && p >= heap && p < heap + PAGES * PAGE;
  strange += !mine;
  if (!mine || mprotect(p, PAGE, PROT_READ | PROT_WRITE))
    _exit(9);
  faults++;
}
FLICK_HOST static void on_host(int signal, siginfo_t *info, void *context) {
  strange += signal != SIGSEGV || !context;
  open_page(info);
}
FLICK_NXP static void on_nxp(int signal, siginfo_t *info, void *context) {
  strange += signal != SIGSEGV || !context;
  open_page(info);
}

struct object {
  long words[6];
  short half;
  unsigned char byte;
};
// One access of each kind to a page whose bytes are all 0x11; whether all is as it must be after.
FLICK_NXP static int access_page(int kind, char *page) {
  struct object *o = (struct object *)(page + 64), copy;
  const long ones = 0x1111111111111111;
  long expected = ones;
  char text[100];
  switch (kind) {
  case 0:
    return *(volatile short *)(page + 64) == 0x1111;
  case 1:
    return *(volatile double *)(page + 64) > 0;
  case 2:
    return atomic_load((_Atomic long *)(page + 64)) == ones;
  case 3:
    return memcpy(text, page + 64, 100) && text[99] == 0x11;
  case 4:
    return memchr(page + 64, 0x12, 100) == NULL;
  case 5:
    *(volatile unsigned char *)(page + 64) = 3;
    return page[64] == 3 && page[65] == 0x11;
  case 6:
    return atomic_compare_exchange_strong((_Atomic long *)(page + 64), &expected, 5) &&
           !atomic_compare_exchange_strong((_Atomic long *)(page + 64), &expected, 6) &&
           expected == 5;
  case 7:
    return atomic_fetch_add((_Atomic unsigned char *)(page + 65), 2) == 0x11 && page[65] == 0x13 &&
           page[64] == 0x11;
  case 8:
    copy = (struct object){{1, 2, 3, 4, 5, 6}, 7, 8};
    *o = copy;
    return o->words[5] == 6 && o->byte == 8;
  case 9:
    memset(page + 64, 7, 200);
    return page[263] == 7 && page[264] == 0x11;
  case 10:
    return strlen(strcpy(page + 64, "twenty bytes of text")) == 20 && page[85] == 0x11;
  case 11:
    return snprintf(page + 64, 50, "%d %s", 17, "and more") == 11 &&
           strcmp(page + 64, "17 and more") == 0;
  case 12:
    return atomic_exchange((_Atomic int *)(page + 64), -1) == 0x11111111 && page[67] == -1;
  }
  return 0;
}

static int run(void (*handler)(int, siginfo_t *, void *)) {
  struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  int good = 0;
  sigaction(SIGSEGV, &a, NULL);
  faults = 0;
  for (int closed = 0; closed < 2; closed++) {
    mprotect(heap, PAGES * PAGE, PROT_READ | PROT_WRITE);
    memset(heap, 0x11, PAGES * PAGE);
    mprotect(heap, PAGES * PAGE, closed ? PROT_NONE : PROT_READ);
    for (int kind = closed ? 0 : 5; kind < KINDS; kind++)
      good += access_page(kind, heap + kind * PAGE);
  }
  // Reads of pages that are open for reading do not fault.
  for (int kind = 0; kind < 5; kind++) {
    mprotect(heap + kind * PAGE, PAGE, PROT_NONE);
    memset(heap + kind * PAGE, 0x11, PAGE);
    mprotect(heap + kind * PAGE, PAGE, PROT_READ);
    good += access_page(kind, heap + kind * PAGE);
  }
  return good;
}
static void *thread(void *number) {
  char *mine = heap + *(int *)number * 16 * PAGE;
  int good = 0;
  for (int kind = 0; kind < KINDS; kind++)
    good += access_page(kind, mine + kind * PAGE);
  *(int *)number = good == KINDS;
  return NULL;
}
FLICK_NXP static int system_call(char *p) { return read(0, p, 1) == -1 && errno == EFAULT; }

int main(void) {
  stack_t stack = {.ss_size = 1 << 17, .ss_sp = malloc(1 << 17)};
  sigaltstack(&stack, NULL);
  heap = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int good = run(on_host);
  printf("host handler %d accesses %d faults\n", good, faults);
  good = run(on_nxp);
  printf("NxP handler %d accesses %d faults\n", good, faults);
  mprotect(heap, PAGES * PAGE, PROT_READ | PROT_WRITE);
  memset(heap, 0x11, PAGES * PAGE);
  mprotect(heap, PAGES * PAGE, PROT_NONE);
  pthread_t t[4];
  int v[4], right = 0, ends[2];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, thread, (v[i] = i, &v[i]));
  for (int i = 0; i < 4; i++) {
    pthread_join(t[i], NULL);
    right += v[i];
  }
  if (pipe(ends) || write(ends[1], "x", 1) != 1 || dup2(ends[0], 0))
    return 1;
  mprotect(heap, PAGE, PROT_NONE);
  printf("threads %d right, system call %d\n", right - strange, system_call(heap));
}

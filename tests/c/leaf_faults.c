// Leaves that fault: called by the host by name and by pointer, by NxP code, by the host within NxP
// code, in a handler. The handler leaves by siglongjmp, or makes the page accessible and returns,
// and crosses itself. Expects each value as if nothing had happened.
// OUT: load: 1 1 1 1 1
// OUT: store: 1 1 1 1 1
// OUT: repaired: 77 77 78 79 faults 4
// OUT: stored: 5 6 7 faults 3
// OUT: in a handler: 9 faults 2
// OUT: kept: 1
// SKIP-VALGRIND: memcheck reports the bad accesses that are the subject
#define _GNU_SOURCE
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

#define SEPARATE __attribute__((noinline))

FLICK_NXP SEPARATE static long load(const long *p) { return *p + 1; }
FLICK_NXP SEPARATE static void store(long *p, long value) { *p = value; }
FLICK_NXP SEPARATE static long load_on_nxp(const long *p) { return load(p) + 1; }
FLICK_NXP SEPARATE static void store_on_nxp(long *p, long value) {
  store(p, value), store(p, value);
}

typedef long loads(const long *);
typedef void stores(long *, long);
static loads *volatile by_pointer = load;
static stores *volatile store_by_pointer = store;

FLICK_HOST SEPARATE static long load_on_host(const long *p) { return load(p) + 2; }
FLICK_NXP SEPARATE static long load_within(const long *p) { return load_on_host(p); }
FLICK_NXP SEPARATE static long sum(const long *p, long n) {
  long all = 0;
  for (long i = 0; i < n; i++)
    all += load_on_host(p + i);
  return all;
}

static long *page;
static sigjmp_buf out;
static volatile sig_atomic_t leaves_by_jump, is_nested, faults, wrong;
static long three[3] = {1, 2, 3};

static void on_fault(int signal, siginfo_t *info, void *context) {
  (void)context;
  faults++;
  wrong += signal != SIGSEGV || info->si_addr != (void *)page;
  // The same leaves, and NxP code with frames.
  wrong += load(three) != 2 || by_pointer(three + 1) != 3 || sum(three, 3) != 15;
  if (leaves_by_jump)
    siglongjmp(out, 1);
  if (is_nested) {
    is_nested = 0;
    mprotect(page, 4096, PROT_NONE);
    wrong += load(page) != 9;
  }
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static volatile long loaded;

static int jumps_from(loads *f) {
  if (sigsetjmp(out, 1) == 0) {
    loaded = f(page);
    return 0;
  }
  return 1;
}
static int jumps_from_store(stores *f) {
  if (sigsetjmp(out, 1) == 0) {
    f(page, 1);
    return 0;
  }
  return 1;
}
static int by_name(void) {
  if (sigsetjmp(out, 1) == 0) {
    loaded = load(page);
    return 0;
  }
  return 1;
}
static int store_by_name(void) {
  if (sigsetjmp(out, 1) == 0) {
    store(page, 1);
    return 0;
  }
  return 1;
}
static long repaired(loads *f) {
  mprotect(page, 4096, PROT_NONE);
  return f(page);
}
static long stored(stores *f, long value) {
  mprotect(page, 4096, PROT_NONE);
  f(page, value);
  return *page;
}

/* The host keeps values in registers around the call. */
static SEPARATE long kept(long a, long b, long c, long d, long e, const long *p) {
  mprotect(page, 4096, PROT_NONE);
  long x = a * b, y = b * c, z = c * d, v = d * e, w = e * a;
  long from = load(p);
  return from + x + y + z + v + w;
}

int main(void) {
  struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGSEGV, &a, NULL);
  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  leaves_by_jump = 1;
  printf("load: %d %d", by_name(), jumps_from(by_pointer));
  printf(" %d %d", jumps_from(load_on_nxp), jumps_from(load_within));
  printf(" %d\n", jumps_from(load_on_host));
  printf("store: %d %d", store_by_name(), jumps_from_store(store_by_pointer));
  printf(" %d %d %d\n", jumps_from_store(store_on_nxp), !wrong, load(three) == 2);
  leaves_by_jump = 0;
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
  *page = 76;
  faults = 0;
  printf("repaired: %ld %ld", repaired(load), repaired(by_pointer));
  printf(" %ld", repaired(load_on_nxp));
  printf(" %ld", repaired(load_within));
  printf(" faults %d\n", (int)faults);
  faults = 0;
  printf("stored: %ld %ld", stored(store, 5), stored(store_by_pointer, 6));
  printf(" %ld", stored(store_on_nxp, 7));
  printf(" faults %d\n", (int)faults);
  *page = 8;
  faults = 0, is_nested = 1;
  printf("in a handler: %ld", repaired(by_pointer));
  printf(" faults %d\n", (int)faults);
  printf("kept: %d\n", kept(1, 2, 3, 4, 5, page) == 9 + 2 + 6 + 12 + 20 + 5 && !wrong);
}

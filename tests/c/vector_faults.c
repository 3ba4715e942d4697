// A handler of SIGSEGV makes a page accessible in the middle of vector loads and stores, of which
// the elements before are done. It executes vector code of the NxP itself, which has registers of
// its own. Another time it leaves by siglongjmp. Expects plain clang's results.
// CARD: card card-two
// FLICK-FLAGS: --nxp-march=rv64gcv -Xnxp=-O3
// SKIP-VALGRIND: memcheck reports the accesses that are the subject
#define _GNU_SOURCE
#include <flick.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, N = 1000 };

static uint8_t *pages;
static int faults, leaves;
static long within;
static int32_t more[N];
static sigjmp_buf out;

#define NXP FLICK_NXP __attribute__((noinline))

NXP long sum(const int32_t *x, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++)
    sum += x[i];
  return sum;
}

NXP void add(int32_t *restrict to, const int32_t *restrict a, const int32_t *restrict b, long n) {
  for (long i = 0; i < n; i++)
    to[i] = a[i] + b[i] * 3;
}

NXP long indexed(const int32_t *x, const uint32_t *at, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++)
    sum += x[at[i]] ^ i;
  return sum;
}

static void handler(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  uint8_t *page = (uint8_t *)((uintptr_t)info->si_addr & -PAGE);
  faults++;
  if (page < pages || page >= pages + 4 * PAGE)
    _Exit(3);
  within += sum(more, N);
  if (leaves)
    siglongjmp(out, 1);
  mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

static void close_pages(void) { mprotect(pages + PAGE, 2 * PAGE, PROT_NONE); }

int main(void) {
  struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &a, NULL);
  pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  static int32_t x[N], y[N];
  static uint32_t at[N];
  for (int i = 0; i < N; i++) {
    more[i] = i * 17;
    x[i] = i * i;
    y[i] = i - 500;
    at[i] = (uint32_t)(i * 37 % 3000);
  }
  for (int i = 0; i < 4 * PAGE / 4; i++)
    ((int32_t *)pages)[i] = i * 5;
  // The bounds of pages are within vectors, and within elements.
  for (int odd = 0; odd < 8; odd += 3) {
    close_pages();
    int32_t *middle = (int32_t *)(pages + PAGE - 2000 + odd);
    long s = sum(middle, 2 * PAGE / 4);
    printf("%d: %ld, %d faults, %ld\n", odd, s, faults, within);
    close_pages();
    add(middle, x, y, N);
    s = sum(middle, N);
    printf("%d: %ld, %d faults, %ld\n", odd, s, faults, within);
    close_pages();
    s = indexed((const int32_t *)pages, at, N);
    printf("%d: %ld, %d faults, %ld\n", odd, s, faults, within);
  }
  for (int i = 0; i < 3; i++) {
    close_pages();
    leaves = 1;
    if (sigsetjmp(out, 1) == 0)
      printf("not reached: %ld\n", sum((int32_t *)(pages + PAGE - 2000), 1000));
    leaves = 0;
    printf("left: %d faults, %ld\n", faults, sum(x, N));
    add((int32_t *)(pages + PAGE - 2000), x, y, N);
    printf("again: %d faults, %ld\n", faults, sum((int32_t *)(pages + PAGE - 2000), N));
  }
}

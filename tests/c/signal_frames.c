// What a handler sees of NxP code that it interrupts: a record whose address is the NxP's, and the
// kernel's own context, which is that of the host thread that carries the NxP: its pc is in Flick,
// its stack pointer on the host's stack, its mask the thread's, and changes of the mask last. NxP
// code, also that of handlers, runs on the NxP stack of its thread, on an alternate stack or not,
// below the frames that it interrupts.
// OUT: fault 1 1 context 1 1 1 stack 1 1 1
// OUT: alternate 1 1 1 1 mask 1 0
// OUT: timer 1 1 1
// SKIP-RANDOM: where the functions run is the subject
// SKIP-VALGRIND: memcheck reports the access that is the subject
// ONLY: flick
#define _GNU_SOURCE
#include <flick.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

static char *page, *alternate;
enum { ALTERNATE = 1 << 17 };
static uintptr_t main_frame;
static volatile uintptr_t interrupted, nxp_local, host_sp, host_pc, host_local;
static volatile sig_atomic_t right, got_mask, alarms;

static int on_host_stack(uintptr_t p) { return p < main_frame && main_frame - p < 8 << 20; }
static int on_alternate(uintptr_t p) { return p - (uintptr_t)alternate < ALTERNATE; }

__attribute__((noinline)) FLICK_NXP static void nxp_part(void) {
  volatile char here;
  nxp_local = (uintptr_t)&here;
}
FLICK_HOST static void on_host(int signal, siginfo_t *info, void *context) {
  ucontext_t *c = context;
  char here;
  right = signal == SIGSEGV && info->si_code == SEGV_ACCERR && info->si_addr == page + 100;
  host_pc = (uintptr_t)c->uc_mcontext.gregs[REG_RIP];
  host_sp = (uintptr_t)c->uc_mcontext.gregs[REG_RSP];
  host_local = (uintptr_t)&here;
  got_mask = sigismember(&c->uc_sigmask, SIGUSR2) == 1 && sigismember(&c->uc_sigmask, SIGUSR1) == 0;
  sigaddset(&c->uc_sigmask, SIGUSR1);
  nxp_part();
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
}
FLICK_NXP static void on_nxp(int signal, siginfo_t *info, void *context) {
  volatile char here;
  right = signal == SIGSEGV && info->si_addr == page + 100 && context;
  nxp_local = (uintptr_t)&here;
  host_local = (uintptr_t)context;
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
}
FLICK_HOST static void on_alarm(int signal, siginfo_t *info, void *context) {
  ucontext_t *c = context;
  alarms += signal == SIGALRM && info->si_code == SI_KERNEL;
  host_pc = (uintptr_t)c->uc_mcontext.gregs[REG_RIP];
  host_sp = (uintptr_t)c->uc_mcontext.gregs[REG_RSP];
}

FLICK_NXP static int touch(void) {
  volatile char here = 1;
  interrupted = (uintptr_t)&here;
  return page[100] + here;
}
FLICK_NXP static long spin(long least) {
  volatile long n = 0;
  while (!alarms || n < least)
    n = n + 1;
  return n;
}
static void install(int signal, void (*f)(int, siginfo_t *, void *), int flags) {
  struct sigaction a = {.sa_sigaction = f, .sa_flags = SA_SIGINFO | flags};
  sigaction(signal, &a, NULL);
}
// An address that can be executed, which those of an image are not.
static int executable(uintptr_t address) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512], flags[5];
  unsigned long start, end;
  int found = 0;
  while (fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx %4s", &start, &end, flags) == 3 && address - start < end - start)
      found = flags[2] == 'x';
  fclose(maps);
  return found;
}

int main(void) {
  sigset_t usr2, now;
  main_frame = (uintptr_t)__builtin_frame_address(0);
  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sigemptyset(&usr2);
  sigaddset(&usr2, SIGUSR2);
  sigprocmask(SIG_SETMASK, &usr2, NULL);
  install(SIGSEGV, on_host, 0);
  int v = touch();
  int host = executable(host_pc);
  printf("fault %d %d context %d %d %d", right, v == 1, host, on_host_stack(host_sp), got_mask);
  printf(" stack %d %d %d\n", flick_is_nxp_memory((void *)nxp_local), nxp_local < interrupted,
         on_host_stack(host_local) && host_local < host_sp);

  stack_t stack = {.ss_sp = alternate = malloc(ALTERNATE), .ss_size = ALTERNATE};
  sigaltstack(&stack, NULL);
  mprotect(page, 4096, PROT_NONE);
  install(SIGSEGV, on_nxp, SA_ONSTACK);
  v = touch();
  sigprocmask(SIG_SETMASK, NULL, &now);
  printf("alternate %d %d %d %d mask %d %d\n", right && v == 1,
         flick_is_nxp_memory((void *)nxp_local), nxp_local < interrupted, on_alternate(host_local),
         sigismember(&now, SIGUSR1), sigismember(&now, SIGSEGV));

  struct itimerval soon = {{0, 0}, {0, 1000}};
  install(SIGALRM, on_alarm, 0);
  setitimer(ITIMER_REAL, &soon, NULL);
  spin(100000);
  host = executable(host_pc);
  printf("timer %d %d %d\n", alarms == 1, host, on_host_stack(host_sp));
}

// Seccomp filters that the program installs. The first allows, besides what the program itself
// calls, the system calls that a thread's first crossing makes; the second, once the thread has
// crossed, none for Flick: NxP code calls, is called and faults without any. A call of a leaf would
// not be a crossing.
// OUT: first 55 second 55 4 5
// CROSSINGS: unrecorded the filter refuses what writing the record needs
// SKIP-RANDOM: which function crosses first is the subject
// SKIP-VALGRIND: valgrind makes system calls of its own
// SKIP-CARD: a crossing of a card uses rt_sigprocmask, which the filter forbids (docs/card.md)
#define _GNU_SOURCE
#include <errno.h>
#include <flick.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void allow_only(const int *calls, int count) {
  struct sock_filter code[64] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
  };
  int at = 1;
  for (int i = 0; i < count; i++) {
    code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  struct sock_fprog program = {(unsigned short)at, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    _exit(99);
}

FLICK_HOST __attribute__((noinline)) static int callback(int x) { return x; }
FLICK_NXP static int sum(int n) { return n ? callback(n) + sum(n - 1) : 0; }
static volatile sig_atomic_t faults;
static char *page;
FLICK_NXP static void handler(int signal) {
  faults += signal == SIGSEGV;
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
}
FLICK_NXP static int touch(char *p) { return *(volatile char *)p += 4; }

int main(void) {
  // What the program itself calls: output, its end, the handler's mprotect and return.
  static const int first[] = {
      SYS_write,        SYS_exit_group, SYS_mprotect,       SYS_rt_sigreturn, SYS_prctl,
      SYS_rt_sigaction, SYS_newfstatat, SYS_openat,         SYS_read,         SYS_close,
      SYS_madvise,      SYS_prlimit64,  SYS_rt_sigprocmask,
  };
  static const int second[] = {SYS_write, SYS_exit_group, SYS_mprotect, SYS_rt_sigreturn};
  char line[100];
  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  signal(SIGSEGV, handler);
  allow_only(first, sizeof first / sizeof *first);
  int before = sum(10);
  allow_only(second, sizeof second / sizeof *second);
  int after = sum(10), touched = touch(page), faulted = faults * 5;
  int length =
      snprintf(line, sizeof line, "first %d second %d %d %d\n", before, after, touched, faulted);
  _exit(write(1, line, (size_t)length) != length);
}

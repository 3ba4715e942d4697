// A program for `flick run --extensions` on a Linux whose CPUs differ: what its threads compute,
// and what it sees of its affinity. CPUs 2 and 3 have Zba, Zbb, Zbs and Zicond, and CPU 4 has V and
// a unit for custom-0.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SET ".option push\n.option arch, +zba, +zbb, +zbs, +zicond, +v\n"
#define POP "\n.option pop"
enum { THREADS = 16, ROUNDS = 200 };

static uint64_t sh3add(uint64_t a, uint64_t b) {
  uint64_t sum;
  __asm__ volatile(SET "sh3add %0, %1, %2" POP : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}

// All registers that the ABI keeps, and a floating-point one, have values across the instructions.
static int round_is_wrong(uint64_t n) {
  uint64_t rotated, bit, zero;
  double third = (double)n / 3;
  uint64_t sum = sh3add(n, n);
  __asm__ volatile(SET "ror %0, %1, %2" POP : "=r"(rotated) : "r"(n), "r"(n & 63));
  __asm__ volatile(SET "bset %0, zero, %1" POP : "=r"(bit) : "r"(n & 63));
  __asm__ volatile(SET "czero.eqz %0, %1, zero" POP : "=r"(zero) : "r"(n));
  unsigned by = n & 63;
  uint64_t wanted = by ? n >> by | n << (64 - by) : n;
  return sum != 9 * n || rotated != wanted || bit != 1ul << by || zero != 0 ||
         third * 3 < (double)n - 0.01;
}

static void *worker(void *number) {
  uintptr_t failures = 0;
  for (uint64_t n = 0; n < ROUNDS; n++) {
    failures += (uintptr_t)round_is_wrong((uint64_t)(uintptr_t)number * 1000 + n);
    if (n % 50 == 49)
      usleep(1000);
    else if (n % 10 == 9)
      sched_yield();
  }
  return (void *)failures;
}

static void *blocked(void *unused) {
  (void)unused;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  return (void *)(uintptr_t)round_is_wrong(7);
}

// What the kernel says, which the program's own calls do not.
static const char *kernels_mask(void) {
  static char line[256];
  const char *mask = "";
  FILE *file = fopen("/proc/thread-self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, "Cpus_allowed_list:\t", 19)) {
      line[strcspn(line, "\n")] = 0;
      mask = line + 19;
      break;
    }
  if (file)
    fclose(file);
  return mask;
}
static void mask_of_kernel(const char *when) {
  printf("%s: the kernel's mask is %s\n", when, kernels_mask());
}

static void own_mask(const char *when) {
  cpu_set_t set;
  CPU_ZERO(&set);
  int status = sched_getaffinity(0, sizeof set, &set);
  printf("%s: own mask", when);
  for (int cpu = 0; cpu < 8; cpu++)
    if (CPU_ISSET(cpu, &set))
      printf(" %d", cpu);
  printf(", status %d\n", status);
}

static int set_mask(unsigned bits) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu = 0; cpu < 8; cpu++)
    if (bits >> cpu & 1)
      CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set);
}

static sigjmp_buf back;
static volatile sig_atomic_t code;
static void handler(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  code = info->si_code;
  siglongjmp(back, 1);
}

// The signal's code, or 0 if there is none.
static int code_of(void (*what)(void)) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO}, old;
  sigaction(SIGILL, &action, &old);
  code = 0;
  if (!sigsetjmp(back, 1))
    what();
  sigaction(SIGILL, &old, NULL);
  return code;
}

static void bits(void) {
  if (round_is_wrong(5))
    puts("wrong");
}
static void vectors(void) { __asm__ volatile(SET "vsetivli zero, 2, e64, m1, ta, ma" POP); }
static void unit(void) {
  uint64_t dots;
  __asm__ volatile(".insn r 0x0b, 7, 0, %0, %1, %2" : "=r"(dots) : "r"(0x0102), "r"(0x0304));
  if (dots != 11)
    puts("wrong");
}
static void other_unit(void) { __asm__ volatile(".insn r 0x2b, 7, 0, zero, zero, zero"); }
static void no_instruction(void) { __asm__ volatile(".word 0xffffffff"); }
static void sent(void) { raise(SIGILL); }

static int status_of(void (*what)(void)) {
  fflush(stdout);
  pid_t child = fork();
  int status = 0;
  if (!child) {
    what();
    _exit(3);
  }
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 100 + WEXITSTATUS(status);
}

// Other CPUs are idle, and those with the extension are busy. So Linux has the thread on another
// one whenever it wakes up and may be there.
static int thrashing(void) {
  pid_t busy[2];
  int failures = 0, rounds = 0;
  for (int n = 0; n < 2; n++)
    if (!(busy[n] = fork())) {
      set_mask(4u << n);
      for (;;)
        __asm__ volatile("");
    }
  usleep(20000);
  set_mask(1);
  set_mask(31);
  for (; rounds < 300; rounds++) {
    failures += round_is_wrong((uint64_t)rounds);
    usleep(1000);
  }
  for (int n = 0; n < 2; n++)
    kill(busy[n], SIGKILL);
  printf("rounds %d, failures %d\n", rounds, failures);
  return failures != 0;
}

int main(int count, char **words) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (count > 1 && !strcmp(words[1], "again")) {
    own_mask("executed again");
    return round_is_wrong(11) ? 1 : 42;
  }
  if (count > 1 && !strcmp(words[1], "thrashing"))
    return thrashing();
  printf("a child that was not made: %d\n", waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD);
  own_mask("before");
  mask_of_kernel("before");
  // It moves only if Linux has it on another CPU.
  for (int n = 0; n < 1000 && strcmp(kernels_mask(), "2-3"); n++) {
    set_mask(1);
    set_mask(31);
    bits();
  }
  own_mask("moved");
  mask_of_kernel("moved");
  usleep(100000);
  mask_of_kernel("later");

  pthread_t threads[THREADS], other;
  uintptr_t failures = 0;
  void *result;
  for (uintptr_t n = 0; n < THREADS; n++)
    pthread_create(&threads[n], NULL, worker, (void *)n);
  for (int n = 0; n < THREADS; n++) {
    pthread_join(threads[n], &result);
    failures += (uintptr_t)result;
  }
  printf("failures of %d threads: %d\n", THREADS, (int)failures);
  pthread_create(&other, NULL, blocked, NULL);
  pthread_join(other, &result);
  printf("all signals blocked: %d\n", (int)(uintptr_t)result);

  bits();
  printf("a child of a thread that has moved: %d\n", status_of(bits));
  bits();
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    bits();
    execl("/proc/self/exe", words[0], "again", NULL);
    _exit(1);
  }
  int status;
  waitpid(child, &status, 0);
  printf("executed again: %d\n", WEXITSTATUS(status));

  printf("custom-0: code %d\n", code_of(unit));
  printf("custom-1: code %d\n", code_of(other_unit));
  printf("no CPU has it: code %d\n", code_of(no_instruction));
  printf("sent: code %d\n", code_of(sent));
  printf("vectors, handled: code %d\n", code_of(vectors));
  bits();
  printf("mask 3: status %d\n", set_mask(3));
  own_mask("mask 3");
  mask_of_kernel("mask 3");
  printf("mask 3: code %d\n", code_of(bits));
  printf("mask 6: status %d\n", set_mask(6));
  printf("mask 6: code %d\n", code_of(bits));
  own_mask("mask 6");
  printf("no mask: status %d\n", set_mask(0) == -1 ? errno : 0);
  own_mask("no mask");
  printf("vectors: %d\n", status_of(vectors));
  printf("no instruction: %d\n", status_of(no_instruction));
  return 7;
}

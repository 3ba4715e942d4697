// A program under the watcher on any host: what it sees of itself is as without. The host's CPUs
// are described as of two kinds, so that an instruction which none has is tried on both.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static cpu_set_t all;

// CPUs that the kernel lets this thread run on.
static int cpus_of_kernel(void) {
  char line[4096];
  int cpus = 0;
  FILE *file = fopen("/proc/thread-self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, "Cpus_allowed:", 13))
      for (char *at = line + 13; *at; at++) {
        char digit[2] = {*at, 0};
        for (long bits = strtol(digit, NULL, 16); bits; bits &= bits - 1)
          cpus++;
      }
  if (file)
    fclose(file);
  return cpus;
}

// The mask by the program's call, and whether the kernel has another.
static void masks(const char *when, const cpu_set_t *wanted) {
  cpu_set_t set;
  CPU_ZERO(&set);
  int status = sched_getaffinity(0, sizeof set, &set);
  int held = cpus_of_kernel() != CPU_COUNT(&set);
  printf("%s: status %d, own %d, held %d\n", when, status, CPU_EQUAL(&set, wanted) != 0, held);
}

static void handler(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  printf("signal %d, code %d\n", signal, info->si_code);
  masks("in the handler", &all);
  siglongjmp(back, 1);
}

// Where an instruction of RISC-V may be.
static void illegal(void) {
#if defined __riscv
  __asm__ volatile(".word 0xffffffff");
#else
  __asm__ volatile(".balign 4; ud2; .word 0xffff");
#endif
}

static void *thread(void *unused) {
  (void)unused;
  masks("a thread of a held one", &all);
  return NULL;
}

static void *many(void *number) {
  for (int n = 0; n < 20; n++) {
    pid_t child = fork();
    if (!child)
      _exit(0);
    waitpid(child, NULL, 0);
  }
  return number;
}

int main(int count, char **words) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  int is_free = count > 1 && !strcmp(words[1], "free");
  if (count > 1 && !is_free)
    return atoi(words[1]);
  sched_getaffinity(0, sizeof all, &all);
  printf("children: %d\n", waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD);
  struct sigaction pipe, action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  sigset_t mask;
  sigaction(SIGPIPE, NULL, &pipe);
  sigprocmask(SIG_SETMASK, NULL, &mask);
  printf("inherited: %d %d\n", pipe.sa_handler == SIG_DFL, sigismember(&mask, SIGCHLD));
  sigaction(SIGILL, &action, NULL);
  if (!sigsetjmp(back, 1))
    illegal();
  pthread_t threads[8];
  pthread_create(threads, NULL, thread, NULL);
  pthread_join(threads[0], NULL);
  // With the argument `free` it waits until the thread is free again.
  for (int n = 0; is_free && cpus_of_kernel() != CPU_COUNT(&all) && n < 20000; n++)
    usleep(1000);
  masks("later", &all);
  if (!sigsetjmp(back, 1))
    raise(SIGILL);

  // A mask of its own ends the hold, and one that the kernel refuses does not.
  cpu_set_t one, none;
  CPU_ZERO(&one);
  CPU_ZERO(&none);
  for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
    if (CPU_ISSET(cpu, &all))
      CPU_SET(cpu, &one);
  if (!sigsetjmp(back, 1))
    illegal();
  printf("no mask: %d\n", sched_setaffinity(0, sizeof none, &none) ? errno : 0);
  masks("no mask", &all);
  printf("a small buffer: %d\n", sched_getaffinity(0, 1, &none) ? errno : 0);
  printf("a bad buffer: %d\n", sched_getaffinity(0, sizeof none, (cpu_set_t *)8) ? errno : 0);
  printf("one: %d\n", sched_setaffinity(0, sizeof one, &one));
  masks("one", &one);

  fflush(stdout);
  for (int n = 0; n < 8; n++)
    pthread_create(&threads[n], NULL, many, NULL);
  for (int n = 0; n < 8; n++)
    pthread_join(threads[n], NULL);
  pid_t child = vfork();
  if (!child) {
    execl("/proc/self/exe", words[0], "9", NULL);
    _exit(1);
  }
  int status;
  waitpid(child, &status, 0);
  printf("a child: %d\n", WEXITSTATUS(status));
  child = fork();
  if (!child) {
    signal(SIGILL, SIG_DFL);
    illegal();
  }
  waitpid(child, &status, 0);
  printf("a child without a handler: %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  // Job control.
  child = fork();
  if (!child) {
    raise(SIGSTOP);
    _exit(5);
  }
  waitpid(child, &status, WUNTRACED);
  printf("stopped: %d\n", WIFSTOPPED(status));
  kill(child, SIGCONT);
  waitpid(child, &status, 0);
  printf("went on: %d\n", WEXITSTATUS(status));
  child = fork();
  if (!child)
    for (;;)
      pause();
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  printf("killed: %d\n", WTERMSIG(status));
  return 6;
}

// Everything that has libflick work, in a program that defines what libflick's own code is written
// with. Of the functions that are counted it calls none itself.
#define _GNU_SOURCE
#include <flick.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern unsigned long own_calls __attribute__((weak));
#ifdef THROWS
int throws(int n);
#else
static int throws(int n) { return n; }
#endif

static int host(int x) { return x + 1; }
FLICK_NXP static int cross(int n) { return n ? host(n) + cross(n - 1) : 0; }
FLICK_NXP static int loop(int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += i % 7;
  return s;
}
FLICK_NXP static int blocks(int n) {
  int s = 0;
  for (int i = 1; i < n; i++) {
    volatile char *p = malloc((size_t)i * 100), *q = realloc((void *)p, (size_t)i * 5000);
    q[0] = (char)i;
    s += q[0];
    free((void *)q);
  }
  return s;
}
static jmp_buf back;
FLICK_NXP static void jump(int n) {
  if (n)
    jump(n - 1);
  longjmp(back, 1);
}
static volatile int handled;
FLICK_NXP static void handler(int signal) { handled += signal + cross(3); }
static void *thread(void *argument) {
  *(int *)argument += cross(10) + blocks(20);
  return NULL;
}
FLICK_NXP static int wild(volatile int *p) { return *p; }

int main(int argc, char **argv) {
  int sum = cross(20) + loop(100000) + blocks(100) + throws(10);
  pthread_t threads[3];
  int results[3] = {0};
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, thread, &results[i]);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  if (!setjmp(back))
    jump(3);
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  int status = 0, fault = 0;
  if (fork() == 0)
    exit(cross(5) == 20 && blocks(30) ? 3 : 4);
  wait(&status);
  if (fork() == 0)
    exit(wild((volatile int *)8) + argc + !argv);
  wait(&fault);
  void *local = flick_alloc(FLICK_MEM_NXP, 1000);
  sum += local != NULL;
  flick_free(local);
  printf("%d %d %d %d %d %d %d\n", sum, results[0], results[1], results[2], handled,
         WEXITSTATUS(status), WTERMSIG(fault));
  return 0;
}

// Behind the runtime's own exit handlers, which are registered later, and without the C library,
// which may call the program's.
static void tell(void) {
  if (!&own_calls)
    return;
  char line[20];
  char *at = line + sizeof line;
  *--at = '\n';
  unsigned long rest = own_calls;
  do
    *--at = (char)('0' + rest % 10);
  while (rest /= 10);
  long result, size = line + sizeof line - at;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"(SYS_write), "D"(1L), "S"(at), "d"(size)
                   : "rcx", "r11", "memory");
}
__attribute__((constructor(101))) static void begin(void) { atexit(tell); }

// Timer and sent signals while NxP code waits in the C library: calls go on with SA_RESTART and end
// with EINTR without it, as far as each can; what was transferred before is reported.
// OUT: restart 3 hi!
// OUT: interrupted -1 1 1
// OUT: sleep 1 1 poll 1 futex 1 wait 1
// LIBS: -pthread
#define _GNU_SOURCE
#include <errno.h>
#include <flick.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int ends[2];
static volatile sig_atomic_t alarms, writes_at;
FLICK_NXP static void on_alarm(int signal) {
  int e = errno;
  if (++alarms == writes_at)
    alarms += write(ends[1], "hi!", 3) != 3;
  errno = signal == SIGALRM ? e : 0;
}
static void install(int flags) {
  struct sigaction a = {.sa_handler = on_alarm, .sa_flags = flags};
  sigaction(SIGALRM, &a, NULL);
}
// A signal every 2 ms: the first may come before the call that is to be interrupted.
static void every(long microseconds) {
  struct itimerval t = {{0, microseconds}, {0, microseconds}};
  alarms = 0;
  setitimer(ITIMER_REAL, &t, NULL);
}

FLICK_NXP static ssize_t read_some(char *text, size_t size) { return read(ends[0], text, size); }
FLICK_NXP static int slept(void) {
  struct timespec t = {50, 0}, left = {0, 0};
  return nanosleep(&t, &left) == -1 && errno == EINTR && left.tv_sec == 49;
}
FLICK_NXP static int clock_slept(void) {
  struct timespec t = {50, 0};
  return clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL) == EINTR;
}
FLICK_NXP static int polled(void) {
  struct pollfd p = {.fd = ends[0], .events = POLLIN};
  return poll(&p, 1, 50000) == -1 && errno == EINTR;
}
FLICK_NXP static int waited_futex(int *word) {
  return syscall(SYS_futex, word, FUTEX_WAIT, *word, NULL, NULL, 0) == -1 && errno == EINTR;
}
FLICK_NXP static int waited_semaphore(void) {
  sem_t s;
  sem_init(&s, 0, 0);
  return sem_wait(&s) == -1 && errno == EINTR;
}

int main(void) {
  char text[10] = "";
  if (pipe(ends))
    return 1;
  install(SA_RESTART);
  writes_at = 4;
  every(2000);
  ssize_t n = read_some(text, sizeof text);
  printf("restart %zd %s\n", n, text);
  writes_at = 0;
  install(0);
  every(2000);
  n = read_some(text, sizeof text);
  printf("interrupted %zd %d %d\n", n, errno == EINTR, alarms >= 1);
  int word = 0, s = slept(), c = clock_slept(), p = polled(), f = waited_futex(&word);
  int w = waited_semaphore();
  every(0);
  printf("sleep %d %d poll %d futex %d wait %d\n", s, c, p, f, w);
}

// Signals taken without a handler by NxP code: queued real-time signals in their order with values
// and senders, sigwaitinfo, sigtimedwait, signalfd, one directed to a thread; and a handler that
// sees the same records.
// OUT: order 35:1 35:2 36:3 self 1 1 1
// OUT: none 1 descriptor 34 5
// OUT: directed 1 handler 1 9
// LIBS: -pthread
// SKIP-VALGRIND: valgrind 3.19 loses the value that sigqueue sends
#define _GNU_SOURCE
#include <errno.h>
#include <flick.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

FLICK_NXP static int take(const sigset_t *set, siginfo_t *info) { return sigwaitinfo(set, info); }
FLICK_NXP static int take_soon(const sigset_t *set, siginfo_t *info) {
  struct timespec t = {0, 1000000};
  return sigtimedwait(set, info, &t);
}
FLICK_NXP static void send(int signal, int value) {
  union sigval v = {.sival_int = value};
  sigqueue(getpid(), signal, v);
}
FLICK_NXP static int by_descriptor(const sigset_t *set, int *value) {
  struct signalfd_siginfo info;
  int fd = signalfd(-1, set, SFD_CLOEXEC);
  send(34, 5);
  ssize_t n = read(fd, &info, sizeof info);
  *value = info.ssi_int;
  close(fd);
  return n == sizeof info ? (int)info.ssi_signo : -1;
}
FLICK_NXP static void *waits(void *set) {
  siginfo_t info;
  return take(set, &info) == SIGUSR1 && info.si_pid == getpid() ? set : NULL;
}
static volatile sig_atomic_t seen, value;
FLICK_NXP static void handler(int signal, siginfo_t *info, void *context) {
  seen = signal == 37 && info->si_signo == 37 && info->si_code == SI_QUEUE &&
         info->si_pid == getpid() && info->si_uid == getuid() && context;
  value = info->si_value.sival_int;
}

int main(void) {
  sigset_t set;
  siginfo_t info;
  sigemptyset(&set);
  for (int s = 34; s < 37; s++)
    sigaddset(&set, s);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  send(36, 3);
  send(35, 1);
  send(35, 2);
  int self[3];
  printf("order");
  for (int i = 0; i < 3; i++) {
    int s = take(&set, &info);
    self[i] = info.si_pid == getpid() && info.si_code == SI_QUEUE;
    printf(" %d:%d", s, info.si_value.sival_int);
  }
  printf(" self %d %d %d\n", self[0], self[1], self[2]);
  int got;
  int none = take_soon(&set, &info) == -1 && errno == EAGAIN, number = by_descriptor(&set, &got);
  printf("none %d descriptor %d %d\n", none, number, got);
  pthread_t t;
  void *result;
  pthread_create(&t, NULL, waits, &set);
  pthread_kill(t, SIGUSR1);
  pthread_join(t, &result);
  struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  sigaction(37, &a, NULL);
  send(37, 9);
  printf("directed %d handler %d %d\n", result == &set, seen, value);
}

// What threads in virtual time make exact, and what not: `not_exact FORM`. Each form ends with 0;
// its record says whether it was exact, and names the call that was not.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int ends[2];
static atomic_int word;
static volatile int work;

static void check(int good, const char *what) {
  if (good)
    return;
  printf("wrong: %s\n", what);
  exit(1);
}

static pthread_t start(void *(*run)(void *)) {
  pthread_t thread;
  check(pthread_create(&thread, NULL, run, NULL) == 0, "pthread_create");
  return thread;
}

static double seconds_of_machine(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + now.tv_nsec / 1e9;
}

// Exact: who waits where cancellation ends it is cancelled.

static void *waits(void *unused) {
  pthread_mutex_lock(&mutex);
  for (;;)
    pthread_cond_wait(&condition, &mutex);
  return unused;
}

static void *waits_for_post(void *unused) {
  sem_wait(&semaphore);
  return unused;
}

static void *waits_for_data(void *unused) {
  char byte;
  check(read(ends[0], &byte, 1) == 1, "read");
  return unused;
}

static void cancelled(void) {
  void *(*const all[])(void *) = {waits, waits_for_post, waits_for_data};
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
    void *result;
    pthread_t thread = start(all[i]);
    usleep(1000);
    check(pthread_cancel(thread) == 0, "pthread_cancel");
    check(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED, "the end of a thread");
  }
}

// Exact: two threads in turns, by futexes.

static long futex(int operation, int value) {
  return syscall(SYS_futex, &word, operation, value, NULL, NULL, 0);
}

static void turns(int own) {
  for (int i = 0; i < 100; i++) {
    while (atomic_load(&word) % 2 != own)
      futex(FUTEX_WAIT_PRIVATE, !own);
    atomic_store(&word, !own);
    futex(FUTEX_WAKE_PRIVATE, 1);
  }
}

static void *turns_of_other(void *unused) {
  turns(1);
  return unused;
}

static void futexes(void) {
  pthread_t other = start(turns_of_other);
  turns(0);
  pthread_join(other, NULL);
}

// Exact: threads of C11.

static mtx_t lock;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static int count, ready;

static void made_once(void) { ready++; }

static int counts(void *number) {
  call_once(&once, made_once);
  for (int i = 0; i < 20; i++) {
    check(mtx_lock(&lock) == thrd_success, "mtx_lock");
    while (count % 4 != *(int *)number)
      check(cnd_wait(&changed, &lock) == thrd_success, "cnd_wait");
    count++;
    cnd_broadcast(&changed);
    mtx_unlock(&lock);
    thrd_yield();
  }
  return *(int *)number + 10;
}

static int holds(void *unused) {
  check(mtx_lock(&lock) == thrd_success, "mtx_lock");
  thrd_sleep(&(struct timespec){.tv_sec = 100}, NULL);
  mtx_unlock(&lock);
  return unused != NULL;
}

static void c11(void) {
  thrd_t all[4], holder;
  int numbers[4] = {0, 1, 2, 3}, result;
  mtx_init(&lock, mtx_timed);
  cnd_init(&changed);
  for (int i = 0; i < 4; i++)
    check(thrd_create(&all[i], counts, &numbers[i]) == thrd_success, "thrd_create");
  for (int i = 0; i < 4; i++)
    check(thrd_join(all[i], &result) == thrd_success && result == i + 10, "thrd_join");
  check(count == 80 && ready == 1, "what was counted");
  struct timespec began, now;
  clock_gettime(CLOCK_REALTIME, &began);
  check(thrd_create(&holder, holds, NULL) == thrd_success, "thrd_create");
  usleep(1000);
  check(mtx_trylock(&lock) == thrd_busy, "mtx_trylock");
  began.tv_sec += 10;
  check(mtx_timedlock(&lock, &began) == thrd_timedout, "mtx_timedlock");
  clock_gettime(CLOCK_REALTIME, &now);
  check(now.tv_sec == began.tv_sec, "when a deadline comes");
  check(mtx_lock(&lock) == thrd_success, "mtx_lock");
  clock_gettime(CLOCK_REALTIME, &now);
  check(now.tv_sec == began.tv_sec + 90, "how long a lock was held");
  check(cnd_timedwait(&changed, &lock, &now) == thrd_timedout, "cnd_timedwait");
  mtx_unlock(&lock);
  thrd_join(holder, NULL);
}

// Not exact: a thread that sleeps in a call that the order does not know.

static void *receives(void *unused) {
  char byte;
  check(recv(ends[0], &byte, 1, 0) == 1, "recv");
  return unused;
}

static void asleep(void) {
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  pthread_t thread = start(receives);
  usleep(1000);
  check(send(ends[1], "", 1, 0) == 1, "send");
  pthread_join(thread, NULL);
}

// Not exact: code without a stated point that another thread waits for.

static int unseen;

static void *turns_in_vain(void *unused) {
  __asm__ volatile("1: cmpl $0, %0\n\tje 1b" : : "m"(unseen) : "memory");
  return unused;
}

static void busy(void) {
  pthread_t thread = start(turns_in_vain);
  usleep(1000);
  unseen = 1;
  pthread_join(thread, NULL);
}

// Not exact: a handler of another process's signal, which interrupts a thread that waits.

static void posts(int signal) {
  (void)signal;
  sem_post(&semaphore);
}

static void *waits_to_be_interrupted(void *unused) {
  pthread_mutex_lock(&mutex);
  while (!work)
    pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void handler(void) {
  signal(SIGUSR1, posts);
  pthread_t thread = start(waits_to_be_interrupted);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  usleep(1000);
  sched_yield();
  if (fork() == 0)
    _exit(kill(getppid(), SIGUSR1) != 0);
  int value = 0;
  while (!value)
    check(sem_getvalue(&semaphore, &value) == 0, "sem_getvalue");
  pthread_mutex_lock(&mutex);
  work = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
  wait(NULL);
}

// Not exact: a mutex that another process may have.

static void *takes(void *shared) {
  pthread_mutex_lock(shared);
  pthread_mutex_unlock(shared);
  return NULL;
}

static void shared(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_t *both =
      mmap(NULL, sizeof *both, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutex_init(both, &attributes);
  pthread_t thread;
  pthread_create(&thread, NULL, takes, both);
  takes(both);
  pthread_join(thread, NULL);
}

// Not exact: data of another process, while other threads run.

static void *spins(void *unused) {
  while (!atomic_load(&word))
    sched_yield();
  return unused;
}

static void outside(void) {
  char byte;
  check(pipe(ends) == 0, "pipe");
  if (fork() == 0)
    _exit(write(ends[1], "", 1) != 1);
  pthread_t thread = start(spins);
  check(read(ends[0], &byte, 1) == 1, "read");
  atomic_store(&word, 1);
  pthread_join(thread, NULL);
  wait(NULL);
}

// Exact: the same while all others wait for threads.

static void *reads_and_signals(void *unused) {
  char byte;
  check(read(ends[0], &byte, 1) == 1, "read");
  sem_post(&semaphore);
  return unused;
}

static void quiet(void) {
  check(pipe(ends) == 0, "pipe");
  if (fork() == 0) {
    // On the machine's clock.
    syscall(SYS_poll, NULL, 0, 50);
    _exit(write(ends[1], "", 1) != 1);
  }
  pthread_t thread = start(reads_and_signals);
  sem_wait(&semaphore);
  pthread_join(thread, NULL);
  wait(NULL);
}

// A second of sleep is none of the machine's; with FLICK_CLOCK=real a tenth is, and a deadline is
// not exact.

static void *sleeps(void *unused) {
  usleep(100000);
  return unused;
}

static void asleep_in_virtual_time(void) {
  double began = seconds_of_machine();
  pthread_t thread = start(sleeps);
  sleep(1000);
  pthread_join(thread, NULL);
  check(seconds_of_machine() - began < 500, "how long sleeping takes");
}

static void real_clock(void) {
  double began = seconds_of_machine();
  pthread_t thread = start(sleeps);
  pthread_join(thread, NULL);
  check(seconds_of_machine() - began >= 0.1, "how long sleeping takes");
  struct timespec soon;
  clock_gettime(CLOCK_REALTIME, &soon);
  check(soon.tv_sec != 1767225600, "the machine's date");
  soon.tv_sec -= 1;
  pthread_mutex_lock(&mutex);
  check(pthread_cond_timedwait(&condition, &mutex, &soon) == ETIMEDOUT, "a deadline");
  pthread_mutex_unlock(&mutex);
}

// Not exact: timers that make threads. One that is not set is none.

static volatile sig_atomic_t rang;

static void rings(int signal) {
  (void)signal;
  rang = 1;
}

static void profiles(void) {
  signal(SIGPROF, rings);
  setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_usec = 1000}, NULL);
  while (!rang)
    work++;
}

static void unset_alarm(void) {
  alarm(0);
  setitimer(ITIMER_PROF, &(struct itimerval){.it_interval.tv_sec = 1}, NULL);
}

static void makes_thread(union sigval value) {
  (void)value;
  atomic_store(&word, 1);
}

static void thread_of_timer(void) {
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = makes_thread};
  check(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
  timer_settime(timer, 0, &(struct itimerspec){.it_value.tv_nsec = 1000000}, NULL);
  while (!atomic_load(&word))
    work++;
}

static void real_alarm(void) {
  signal(SIGALRM, rings);
  ualarm(1000, 0);
  while (!rang)
    work++;
}

static const struct form {
  const char *name;
  void (*run)(void);
} forms[] = {
    {"cancelled", cancelled},
    {"futexes", futexes},
    {"c11", c11},
    {"quiet", quiet},
    {"asleep", asleep},
    {"busy", busy},
    {"handler", handler},
    {"shared", shared},
    {"outside", outside},
    {"sleep", asleep_in_virtual_time},
    {"real-clock", real_clock},
    {"profiles", profiles},
    {"unset-alarm", unset_alarm},
    {"thread-of-timer", thread_of_timer},
    {"real-alarm", real_alarm},
};

int main(int argc, char **argv) {
  sem_init(&semaphore, 0, 0);
  for (size_t i = 0; argc > 1 && i < sizeof forms / sizeof *forms; i++) {
    if (strcmp(argv[1], forms[i].name) == 0) {
      if (strcmp(argv[1], "cancelled") == 0)
        check(pipe(ends) == 0, "pipe");
      forms[i].run();
      return 0;
    }
  }
  puts("no such form");
  return 2;
}

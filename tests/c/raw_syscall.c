// Raw system calls from NxP code, by number: of no to six arguments, with results in every size,
// errors in errno, pointers of either side, and the thread that makes them is the one that crossed.
// OUT: written by number
// OUT: thread 1 1 threads 2 pipe 5 hello map 1 1 times 1
// OUT: errors 1 1 1 futex 1 random 1 clone 6
// LIBS: -pthread
#define _GNU_SOURCE
#include <errno.h>
#include <flick.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

FLICK_NXP static long number_of_thread(void) { return syscall(SYS_gettid); }
FLICK_NXP static void *thread(void *arg) {
  *(long *)arg = syscall(SYS_gettid);
  return NULL;
}
FLICK_NXP static long put(int fd, const char *text) {
  return syscall(SYS_write, fd, text, strlen(text));
}
FLICK_NXP static long through_pipe(char *text, long room) {
  int ends[2];
  if (syscall(SYS_pipe2, ends, 0) || put(ends[1], "hello") != 5)
    return -1;
  long n = syscall(SYS_read, ends[0], text, room);
  return syscall(SYS_close, ends[0]) || syscall(SYS_close, ends[1]) ? -1 : n;
}
FLICK_NXP static int *map(size_t size) {
  return (int *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0L);
}
FLICK_NXP static int unmap(void *p, size_t size) { return (int)syscall(SYS_munmap, p, size); }
FLICK_NXP static int goes_on(void) {
  struct timespec a, b;
  int r = (int)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &a);
  r += (int)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &b);
  return r == 0 && (b.tv_sec > a.tv_sec || (b.tv_sec == a.tv_sec && b.tv_nsec >= a.tv_nsec));
}
FLICK_NXP static int fails(long number, int error) {
  errno = 0;
  return syscall(number, -1L, NULL, 0L) == -1 && errno == error;
}
FLICK_NXP static int not_equal(uint32_t *word) {
  return syscall(SYS_futex, word, FUTEX_WAIT, *word + 1, NULL, NULL, 0) == -1 && errno == EAGAIN;
}
FLICK_NXP static int random_bytes(unsigned char *p, size_t n) {
  long got = syscall(SYS_getrandom, p, n, 0);
  int sum = 0;
  for (size_t i = 0; i < n; i++)
    sum |= p[i];
  return got == (long)n && sum != 0;
}
// clone(2) as fork is made of it: the child goes on in NxP code.
FLICK_NXP static int child_of_clone(int code) {
  long pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  if (pid == 0)
    syscall(SYS_exit_group, code);
  int status = -1;
  syscall(SYS_wait4, pid, &status, 0, NULL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void) {
  long other = 0;
  char text[10] = "";
  unsigned char bytes[64] = {0};
  uint32_t word = 3;
  pthread_t t;
  put(1, "written by number\n");
  pthread_create(&t, NULL, thread, &other);
  pthread_join(t, NULL);
  long n = through_pipe(text, sizeof text);
  int *p = map(10000);
  p[2000] = 4;
  int mapped = p != MAP_FAILED && p[0] == 0, gone = unmap(p, 10000) == 0;
  printf("thread %d %d threads %d pipe %ld %s map %d %d times %d\n", number_of_thread() == getpid(),
         number_of_thread() == gettid(), other && other != getpid() ? 2 : 1, n, text, mapped, gone,
         goes_on());
  fflush(stdout);
  printf("errors %d %d %d futex %d random %d clone %d\n", fails(SYS_close, EBADF),
         fails(SYS_read, EBADF), fails(9999, ENOSYS), not_equal(&word),
         random_bytes(bytes, sizeof bytes), child_of_clone(6));
}

// Many numbers at a time, several threads, and a child that has its parent's number and opens
// others.
#include "check.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>

enum { MANY = 16, THREADS = 8, TIMES = 5 };

FLICK_NXP static long twice(long x) { return 2 * x; }

static void digest_of_abc(int number) {
  static const unsigned char wanted[] = {0xba, 0x78, 0x16, 0xbf};
  unsigned char sum[32];
  expect(!write_all(number, "abc", 3), "abc");
  shutdown(number, SHUT_WR);
  expect(read_all(number, sum, sizeof sum) == 32 && !memcmp(sum, wanted, 4), "its digest");
}

static void *digests(void *nothing) {
  for (int n = 0; n < TIMES; n++) {
    int number = opened("card:/sha256", O_RDWR | O_CLOEXEC);
    digest_of_abc(number);
    closes(number, "the end");
    expect(twice(n) == 2 * n, "NxP code");
  }
  return nothing;
}

static void many_at_a_time(void) {
  int numbers[MANY];
  for (int n = 0; n < MANY; n++)
    numbers[n] = opened("card:/sha256", O_RDWR);
  for (int n = 0; n < MANY; n++)
    digest_of_abc(numbers[n]);
  for (int n = 0; n < MANY; n++)
    closes(numbers[n], "one of many");
}

int main(void) {
  many_at_a_time();
  // Those that are closed by close are of no use any more, too.
  for (int n = 0; n < 3 * MANY; n++) {
    int number = opened("card:/sha256", O_RDWR);
    digest_of_abc(number);
    close(number);
  }
  pthread_t threads[THREADS];
  for (int n = 0; n < THREADS; n++)
    pthread_create(&threads[n], NULL, digests, NULL);
  for (int n = 0; n < THREADS; n++)
    pthread_join(threads[n], NULL);
  int others[MANY / 2], number = opened("card:/sha256", O_RDWR);
  for (int n = 0; n < MANY / 2; n++)
    others[n] = opened("card:/fft|ifft", O_RDWR);
  pid_t child = fork();
  if (!child) {
    digest_of_abc(number);
    close(number);
    digests(NULL);
    many_at_a_time();
    _exit(wrong != 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  expect(status == 0, "a child");
  for (int n = 0; n < MANY / 2; n++)
    closes(others[n], "a number that the child has, too");
  closes(number, "the number that a child has used");
  digests(NULL);
  return conclude();
}

// Time functions in NxP code: the monotonic clock never goes back, a short sleep takes at least its
// time, gmtime and strftime agree with plain C. Nothing timed is printed.
// OUT: 1 1 19 2001-09-09 01:46:40 1
#include <flick.h>
#include <stdio.h>
#include <time.h>

FLICK_NXP static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}
FLICK_NXP static int monotonic(long nanoseconds) {
  long start = now(), last = start;
  do {
    long t = now();
    if (t < last)
      return 0;
    last = t;
  } while (last - start < nanoseconds);
  return 1;
}
FLICK_NXP static int sleeps(void) {
  long start = now();
  struct timespec t = {0, 3000000};
  nanosleep(&t, NULL);
  return now() - start >= 3000000;
}
FLICK_NXP static size_t date(char *out, size_t size, time_t t) {
  struct tm tm;
  gmtime_r(&t, &tm);
  return strftime(out, size, "%Y-%m-%d %H:%M:%S", &tm);
}

int main(void) {
  char text[32];
  size_t n = date(text, sizeof text, 1000000000);
  printf("%d %d %zu %s %d\n", monotonic(5000000), sleeps(), n, text, clock() != (clock_t)-1);
}

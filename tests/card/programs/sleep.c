// Time goes on at the machine's pace, and sleeps end when they should, not before.
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000l + now.tv_nsec;
}

int main(void) {
  long before = nanoseconds();
  usleep(3000);
  long slept = nanoseconds() - before;
  printf("3 ms: %s\n", slept >= 3000000 ? "at least" : "too short");
  struct timespec time = {.tv_nsec = 2000000}, rest = {.tv_nsec = 1};
  before = nanoseconds();
  printf("nanosleep %d\n", nanosleep(&time, &rest));
  printf("2 ms: %s, rest %ld\n", nanoseconds() - before >= 2000000 ? "at least" : "too short",
         rest.tv_nsec);
  time.tv_nsec = 1000000000;
  printf("bad time %d\n", nanosleep(&time, NULL));
  struct timeval day;
  gettimeofday(&day, NULL);
  printf("the machine has just started: %d\n", day.tv_sec < 30);
  struct timespec resolution;
  clock_getres(CLOCK_MONOTONIC, &resolution);
  printf("resolution below a microsecond: %d\n", resolution.tv_nsec <= 1000);
  return 0;
}

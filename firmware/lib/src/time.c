// Time: it begins when the machine starts.
#include <errno.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "card_time.h"
#include "thread.h"

#define BILLION 1000000000ul

// Ticks of a time; a time that 64 bits cannot have is no limit.
static uint64_t ticks(uint64_t seconds, uint64_t nanoseconds) {
  unsigned __int128 all = (unsigned __int128)seconds * flick_program.frequency;
  all += ((unsigned __int128)nanoseconds * flick_program.frequency + BILLION - 1) / BILLION;
  return all < UINT64_MAX ? (uint64_t)all : FLICK_FOR_EVER;
}

uint64_t __card_ticks(const struct timespec *time) {
  return time->tv_sec < 0 ? 0 : ticks(time->tv_sec, time->tv_nsec);
}

static struct timespec since_start(void) {
  uint64_t now = flick_time(), frequency = flick_program.frequency;
  unsigned __int128 rest = now % frequency;
  return (struct timespec){.tv_sec = now / frequency, .tv_nsec = rest * BILLION / frequency};
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  (void)clock;
  *time = since_start();
  return 0;
}

int clock_getres(clockid_t clock, struct timespec *time) {
  (void)clock;
  *time = (struct timespec){.tv_nsec =
                                (BILLION + flick_program.frequency - 1) / flick_program.frequency};
  return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now = since_start();
  *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

clock_t clock(void) {
  return (unsigned __int128)flick_time() * CLOCKS_PER_SEC / flick_program.frequency;
}

clock_t times(struct tms *all) {
  *all = (struct tms){.tms_utime = clock()};
  return all->tms_utime;
}

static void sleep_until(uint64_t end) {
  // A wake-up is for others that use the kernel's call.
  while (flick_time() < end)
    flick_thread_sleep(end);
  card_acquired();
}

int nanosleep(const struct timespec *time, struct timespec *rest) {
  if (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= (long)BILLION) {
    errno = EINVAL;
    return -1;
  }
  uint64_t now = flick_time(), more = __card_ticks(time);
  sleep_until(more < FLICK_FOR_EVER - now ? now + more : FLICK_FOR_EVER);
  if (rest)
    *rest = (struct timespec){0};
  return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                    struct timespec *rest) {
  (void)clock;
  if (flags & TIMER_ABSTIME) {
    sleep_until(__card_ticks(time));
    return 0;
  }
  return nanosleep(time, rest) ? errno : 0;
}

unsigned sleep(unsigned seconds) {
  struct timespec time = {.tv_sec = seconds};
  nanosleep(&time, NULL);
  return 0;
}

int usleep(useconds_t microseconds) {
  struct timespec time = {.tv_sec = microseconds / 1000000,
                          .tv_nsec = microseconds % 1000000 * 1000l};
  return nanosleep(&time, NULL);
}

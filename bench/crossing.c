/* What a crossing costs, after the Flick paper (ISCA 2020), section V.A: null calls from the host
 * to the NxP and from the NxP to the host, beside a direct call, a signal round trip and a system
 * call in the same run. `flick bench crossing` builds this, runs it and makes the table.
 *
 *   crossing CALLS ROUNDS
 *
 * prints a line of column names, then a line per round: nanoseconds per call, separated by commas.
 * The kinds alternate within a round, so that a change of clock frequency meets them all. */
#define _GNU_SOURCE
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The empty statement keeps the optimiser from removing calls of an empty function. */
#define NULL_BODY __asm__ volatile("")

FLICK_HOST __attribute__((noinline)) void null_on_host(void) { NULL_BODY; }
FLICK_NXP __attribute__((noinline)) void null_on_nxp(void) { NULL_BODY; }

/* The calls to the host are made by a loop on the NxP; the same loop without them is subtracted.
 * The paper nests one call in a call to the NxP and subtracts that: the same quantity, but here a
 * small difference of two large times, above all where the outer call takes a fault. */
FLICK_NXP __attribute__((noinline)) void loop_with_calls(long calls) {
  for (long call = 0; call < calls; call++)
    null_on_host();
}
FLICK_NXP __attribute__((noinline)) void loop_alone(long calls) {
  for (long call = 0; call < calls; call++)
    NULL_BODY;
}

static void on_signal(int number) { (void)number; }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Nanoseconds per call of STATEMENT. */
#define MEASURE_ONCE(into, statement)                                                              \
  do {                                                                                             \
    double begin = now();                                                                          \
    statement;                                                                                     \
    (into) = (now() - begin) / (double)calls;                                                      \
  } while (0)
#define MEASURE(into, statement) MEASURE_ONCE(into, for (long i = 0; i < calls; i++) statement)

FLICK_HOST int main(int argc, char **argv) {
  long calls = argc > 1 ? atol(argv[1]) : 10000;
  long rounds = argc > 2 ? atol(argv[2]) : 31;
  if (calls < 1 || rounds < 1) {
    fprintf(stderr, "usage: crossing CALLS ROUNDS\n");
    return 2;
  }
  struct sigaction action = {.sa_handler = on_signal};
  pid_t process = getpid();
  pid_t thread = (pid_t)syscall(SYS_gettid);
  if (sigaction(SIGUSR1, &action, NULL) != 0) {
    perror("sigaction");
    return 1;
  }

  null_on_nxp(); /* the first call makes the NxP stack */
  puts("direct,host_nxp_host,nxp_host_nxp,signal,getpid");
  for (long round = 0; round < rounds; round++) {
    double direct, outer, with_calls, alone, signal_trip, system_call;
    MEASURE(direct, null_on_host());
    MEASURE(outer, null_on_nxp());
    MEASURE_ONCE(with_calls, loop_with_calls(calls));
    MEASURE_ONCE(alone, loop_alone(calls));
    MEASURE(signal_trip, syscall(SYS_tgkill, process, thread, SIGUSR1));
    MEASURE(system_call, syscall(SYS_getpid));
    printf("%.3f,%.3f,%.3f,%.3f,%.3f\n", direct, outer, with_calls - alone, signal_trip,
           system_call);
  }
  return 0;
}

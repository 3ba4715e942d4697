/* Measures the cost of a crossing, after the Flick paper (ISCA 2020), section V.A. It makes null
 * calls from the host to the NxP and from the NxP to the host, by name and through a pointer, and
 * nests of them. The null function is a leaf, and there is one with a frame on the NxP's stack,
 * too. It also calls a leaf that loads, and a function with a frame and a callee. Direct calls,
 * signals and a system call are measured in the same run. `flick bench crossing` builds this
 * program, runs it and makes the table.
 *
 *   crossing CALLS ROUNDS gate|fault
 *
 * prints a line of column names, then a line per round: nanoseconds per call, separated by commas.
 * The kinds alternate within a round, so that a change of clock frequency meets them all. Kinds
 * that take long have fewer calls, so that no figure takes longer than a time slice of the
 * scheduler. With `fault` it measures the call that faults, and a bare signal that only sends the
 * thread to another function. */
#define _GNU_SOURCE
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* The empty statement keeps the optimiser from removing calls of an empty function, and from making
 * a jump of the last call of another. */
#define NULL_BODY __asm__ volatile("")
#define SEPARATE __attribute__((noinline))

typedef void null_function(void);

FLICK_HOST SEPARATE void null_on_host(void) { NULL_BODY; }
FLICK_NXP SEPARATE void null_on_nxp(void) { NULL_BODY; }
/* No leaf that may run on the host's stack: it uses the NxP's. */
FLICK_NXP SEPARATE void stack_on_nxp(void) {
  volatile char here[16];
  here[0] = 0;
}

/* Calls whose arguments are not in the same registers on both sides. */
typedef struct {
  long x, y, z;
} triple;
#define MIXED (long a, float b, double c, int d, float e)
#define STACKED (long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
#define STRUCT (long a, triple b, double c)
FLICK_HOST SEPARATE float mixed_on_host MIXED {
  NULL_BODY;
  return (void)a, (void)c, (void)d, (void)e, b;
}
FLICK_NXP SEPARATE float mixed_on_nxp MIXED {
  NULL_BODY;
  return (void)a, (void)c, (void)d, (void)e, b;
}
#define IGNORED ((void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, (void)i)
FLICK_HOST SEPARATE long stacked_on_host STACKED {
  NULL_BODY;
  return IGNORED, j;
}
FLICK_NXP SEPARATE long stacked_on_nxp STACKED {
  NULL_BODY;
  return IGNORED, j;
}
FLICK_HOST SEPARATE long struct_on_host STRUCT {
  NULL_BODY;
  return (void)a, (void)c, b.z;
}
FLICK_NXP SEPARATE long struct_on_nxp STRUCT {
  NULL_BODY;
  return (void)a, (void)c, b.z;
}

/* The compiler cannot know the result, so that a call of it is a call through a pointer. */
static inline null_function *hidden(null_function *function) {
  __asm__("" : "+r"(function));
  return function;
}

/* The calls to the host are made by a loop on the NxP; the same loop without them is subtracted.
 * The paper nests one call in a call to the NxP and subtracts that: the same quantity, but here a
 * small difference of two large times, above all where the outer call takes a fault. */
FLICK_NXP SEPARATE void loop_with_calls(long calls) {
  for (long call = 0; call < calls; call++)
    null_on_host();
}
FLICK_NXP SEPARATE void loop_through(null_function *function, long calls) {
  for (long call = 0; call < calls; call++)
    function();
}
FLICK_NXP SEPARATE void loop_with_mixed(long calls) {
  for (long call = 0; call < calls; call++)
    mixed_on_host(call, 1, 2, 3, 4);
}
FLICK_NXP SEPARATE void loop_with_stacked(long calls) {
  for (long call = 0; call < calls; call++)
    stacked_on_host(call, 1, 2, 3, 4, 5, 6, 7, 8, 9);
}
FLICK_NXP SEPARATE void loop_with_struct(const triple *argument, long calls) {
  for (long call = 0; call < calls; call++)
    struct_on_host(call, *argument, 1);
}
FLICK_NXP SEPARATE void loop_alone(long calls) {
  for (long call = 0; call < calls; call++)
    NULL_BODY;
}

/* The same with work in the function that is called: a load, or a call within a frame. */
#define WORK(side, mark)                                                                           \
  mark SEPARATE long load_on_##side(const long *from) {                                            \
    NULL_BODY;                                                                                     \
    return *from;                                                                                  \
  }                                                                                                \
  mark SEPARATE long callee_on_##side(const long *from) {                                          \
    NULL_BODY;                                                                                     \
    return *from;                                                                                  \
  }                                                                                                \
  mark SEPARATE long frame_on_##side(const long *from) {                                           \
    long before = *from;                                                                           \
    return before + callee_on_##side(from);                                                        \
  }
WORK(host, FLICK_HOST)
WORK(nxp, FLICK_NXP)
long loaded = 1;

#define LOOP(mark, function)                                                                       \
  mark SEPARATE void loop_of_##function(long calls) {                                              \
    for (long call = 0; call < calls; call++)                                                      \
      function(&loaded);                                                                           \
  }
LOOP(FLICK_HOST, load_on_nxp)
LOOP(FLICK_HOST, frame_on_nxp)
LOOP(FLICK_NXP, load_on_host)
LOOP(FLICK_NXP, frame_on_host)

/* Re-entry: each level goes to the host and from there to the NxP again. */
FLICK_HOST void level_on_host(long further);
FLICK_NXP SEPARATE void level_on_nxp(long further) {
  if (further > 0)
    level_on_host(further);
  NULL_BODY;
}
FLICK_HOST SEPARATE void level_on_host(long further) {
  level_on_nxp(further - 1);
  NULL_BODY;
}
enum { LEVELS = 8 };

static void on_signal(int number) { (void)number; }

/* A handler that sends the thread on to another function, as a fault in an image does. This is the
 * least cost of a migration by fault. The program makes the system call itself, because libflick
 * interposes `sigaction`, and puts Flick's handler back afterwards. */
struct kernel_action {
  void (*handler)(int, siginfo_t *, void *);
  unsigned long flags;
  void (*restorer)(void);
  unsigned long mask;
};
enum { KERNEL_RESTORER = 0x04000000 };

void return_from_signal(void);
__asm__(".pushsection .text\n"
        "return_from_signal:\n"
        "  mov $15, %eax\n" /* rt_sigreturn */
        "  syscall\n"
        ".popsection\n");

static void on_fault(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] = (greg_t)null_on_host;
}

static int exchange_action(const struct kernel_action *new, struct kernel_action *old) {
  return (int)syscall(SYS_rt_sigaction, SIGSEGV, new, old, sizeof new->mask);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Nanoseconds per call of STATEMENT, which runs TIMES times, or makes TIMES calls itself. */
#define MEASURE_ONCE(into, times, statement)                                                       \
  do {                                                                                             \
    double begin = now();                                                                          \
    statement;                                                                                     \
    (into) = (now() - begin) / (double)(times);                                                    \
  } while (0)
#define MEASURE(into, times, statement)                                                            \
  MEASURE_ONCE(into, times, for (long i = 0; i < (times); i++) statement)

static void by_gate(long calls) {
  null_function *to_host = hidden(null_on_host), *to_nxp = hidden(null_on_nxp);
  const triple argument = {1, 2, 3};
  double direct, pointer, outer, outer_pointer, inner, inner_pointer, alone, none, one, many, stack;
  double outer_mixed, outer_stacked, outer_struct, inner_mixed, inner_stacked, inner_struct;
  double load, load_out, load_in, frame, frame_out, frame_in;
  long nests = calls / LEVELS + 1;
  MEASURE(direct, calls, null_on_host());
  MEASURE(pointer, calls, to_host());
  MEASURE(outer, calls, null_on_nxp());
  MEASURE(outer_pointer, calls, to_nxp());
  MEASURE(stack, calls, stack_on_nxp());
  MEASURE_ONCE(inner, calls, loop_with_calls(calls));
  MEASURE_ONCE(inner_pointer, calls, loop_through(to_host, calls));
  MEASURE(outer_mixed, calls, mixed_on_nxp(i, 1, 2, 3, 4));
  MEASURE(outer_stacked, calls, stacked_on_nxp(i, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  MEASURE(outer_struct, calls, struct_on_nxp(i, argument, 1));
  MEASURE_ONCE(inner_mixed, calls, loop_with_mixed(calls));
  MEASURE_ONCE(inner_stacked, calls, loop_with_stacked(calls));
  MEASURE_ONCE(inner_struct, calls, loop_with_struct(&argument, calls));
  MEASURE_ONCE(alone, calls, loop_alone(calls));
  MEASURE(load, calls, load_on_host(&loaded));
  MEASURE_ONCE(load_out, calls, loop_of_load_on_nxp(calls));
  MEASURE_ONCE(load_in, calls, loop_of_load_on_host(calls));
  MEASURE(frame, calls, frame_on_host(&loaded));
  MEASURE_ONCE(frame_out, calls, loop_of_frame_on_nxp(calls));
  MEASURE_ONCE(frame_in, calls, loop_of_frame_on_host(calls));
  MEASURE(none, nests, level_on_nxp(0));
  MEASURE(one, nests, level_on_nxp(1));
  MEASURE(many, nests, level_on_nxp(1 + LEVELS));
  printf("%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f", direct, pointer, outer, outer_pointer,
         stack, inner - alone, inner_pointer - alone, one - none, (many - one) / LEVELS);
  printf(",%.3f,%.3f,%.3f,%.3f,%.3f,%.3f", outer_mixed, outer_stacked, outer_struct,
         inner_mixed - alone, inner_stacked - alone, inner_struct - alone);
  printf(",%.3f,%.3f,%.3f,%.3f,%.3f,%.3f", load, load_out, load_in - alone, frame, frame_out,
         frame_in - alone);
}

static void by_fault(long calls, long slow, null_function *nowhere) {
  double direct, outer, redirected;
  struct kernel_action bare = {on_fault, SA_SIGINFO | KERNEL_RESTORER, return_from_signal, 0}, old;
  MEASURE(direct, calls, null_on_host());
  MEASURE(outer, slow, null_on_nxp());
  if (exchange_action(&bare, &old) != 0)
    exit(1);
  MEASURE(redirected, slow, nowhere());
  if (exchange_action(&old, NULL) != 0)
    exit(1);
  printf("%.3f,%.3f,%.3f", direct, outer, redirected);
}

/* Makes the NxP stack, and the engine's translations of hot code. */
static void warm_up(void) {
  const triple argument = {1, 2, 3};
  enum { OFTEN = 100 };
  for (int i = 0; i < OFTEN; i++) {
    null_on_nxp();
    stack_on_nxp();
    loop_with_calls(1);
    loop_through(hidden(null_on_host), 1);
    loop_alone(1);
    mixed_on_nxp(1, 1, 1, 1, 1);
    stacked_on_nxp(1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    struct_on_nxp(1, argument, 1);
    loop_with_mixed(1);
    loop_with_stacked(1);
    loop_with_struct(&argument, 1);
    loop_of_load_on_nxp(1);
    loop_of_load_on_host(1);
    loop_of_frame_on_nxp(1);
    loop_of_frame_on_host(1);
    level_on_nxp(1 + LEVELS);
  }
}

FLICK_HOST int main(int argc, char **argv) {
  long calls = argc > 1 ? atol(argv[1]) : 10000;
  long rounds = argc > 2 ? atol(argv[2]) : 31;
  int fault = argc > 3 && strcmp(argv[3], "fault") == 0;
  if (calls < 1 || rounds < 1) {
    fprintf(stderr, "usage: crossing CALLS ROUNDS gate|fault\n");
    return 2;
  }
  long slow = calls / 20 + 1;
  struct sigaction action = {.sa_handler = on_signal};
  pid_t process = getpid();
  pid_t thread = (pid_t)syscall(SYS_gettid);
  void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (sigaction(SIGUSR1, &action, NULL) != 0 || page == MAP_FAILED) {
    perror("crossing");
    return 1;
  }

  warm_up();
  if (fault)
    puts("direct,host_nxp_host,redirect,signal,getpid");
  else
    puts("direct,direct_pointer,host_nxp_host,host_nxp_host_pointer,host_nxp_host_stack,nxp_host_"
         "nxp,"
         "nxp_host_nxp_pointer,reentry_first,reentry_further,"
         "host_nxp_host_mixed,host_nxp_host_stacked,host_nxp_host_struct,"
         "nxp_host_nxp_mixed,nxp_host_nxp_stacked,nxp_host_nxp_struct,direct_load,"
         "host_nxp_host_load,nxp_host_nxp_load,direct_frame,host_nxp_host_frame,"
         "nxp_host_nxp_frame,signal,getpid");
  for (long round = 0; round < rounds; round++) {
    double signal_trip, system_call;
    if (fault)
      by_fault(calls, slow, (null_function *)page);
    else
      by_gate(calls);
    MEASURE(signal_trip, slow, syscall(SYS_tgkill, process, thread, SIGUSR1));
    MEASURE(system_call, slow, syscall(SYS_getpid));
    printf(",%.3f,%.3f\n", signal_trip, system_call);
  }
  return 0;
}

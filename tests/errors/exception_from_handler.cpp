// An exception leaves a signal handler that interrupted NxP code: the frames there cannot be
// unwound, and the program's terminate handler runs with nothing unwound.
// FAILS: run FLK0506
// EXIT: 7
// OUT: terminate with 5
// SAYS: in a call of 'spin(int volatile*)'
// SAYS: catch it in the handler
// CFLAGS: -fnon-call-exceptions
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <flick.h>
#include <sys/time.h>

FLICK_HOST static void handler(int) { throw 5; }
__attribute__((noinline)) FLICK_NXP int spin(volatile int *stop) {
  int n = 0;
  while (!*stop)
    n++;
  return n;
}

int main() {
  std::set_terminate([] {
    try {
      std::rethrow_exception(std::current_exception());
    } catch (int i) {
      printf("terminate with %d\n", i);
    }
    fflush(stdout);
    _Exit(7);
  });
  signal(SIGALRM, handler);
  itimerval soon = {{0, 0}, {0, 20000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  static volatile int stop;
  try {
    spin(&stop);
  } catch (...) {
    puts("caught");
  }
  return 0;
}

// A signal handler that calls members of a global object on the NxP, while NxP code runs.
// OUT: 21 501
#include <csignal>
#include <cstdio>
#include <flick.h>

class Log {
  volatile int hits = 0;
  volatile int last = 0;

public:
  FLICK_NXP void record(int s) {
    hits = hits + 1;
    last = s;
  }
  FLICK_NXP virtual int report() const { return hits * 100 + last; }
  virtual ~Log() = default;
};
static Log log_of_signals;
static Log *volatile current = &log_of_signals;
static void handler(int s) { current->record(s == SIGUSR1); }
FLICK_NXP static int work() {
  int seen = 0;
  for (int i = 0; i < 5; i++) {
    std::raise(i % 2 ? SIGUSR2 : SIGUSR1);
    seen = seen * 2 + current->report() % 2;
  }
  return seen;
}

int main() {
  std::signal(SIGUSR1, handler);
  std::signal(SIGUSR2, handler);
  int s = work();
  std::printf("%d %d\n", s, current->report());
}

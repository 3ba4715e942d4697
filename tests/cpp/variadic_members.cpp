// Variadic methods on the NxP: static, virtual, and virtual through a second base class, where a
// thunk adjusts this and hands the arguments on. Called by host and NxP code.
#include <cstdarg>
#include <cstdio>
#include <flick.h>

struct Other {
  virtual ~Other() = default;
  int pad = 1;
};
struct Log {
  virtual ~Log() = default;
  virtual int write(const char *format, ...) = 0;
};
struct NxpLog : Other, Log {
  int lines = 0;
  FLICK_NXP int write(const char *format, ...) override {
    va_list ap;
    va_start(ap, format);
    std::printf("nxp %d: ", ++lines);
    int n = std::vprintf(format, ap);
    va_end(ap);
    return n;
  }
  FLICK_NXP static double sum(int n, ...) {
    va_list ap;
    va_start(ap, n);
    double out = 0;
    while (n-- > 0)
      out += va_arg(ap, double);
    va_end(ap);
    return out;
  }
};
struct HostLog : Other, Log {
  FLICK_HOST int write(const char *format, ...) override {
    va_list ap;
    va_start(ap, format);
    std::printf("host: ");
    int n = std::vprintf(format, ap);
    va_end(ap);
    return n;
  }
};
FLICK_NXP static int both(Log &log, int n) {
  int first = log.write("%d %s %g %ld %d %d %d %d\n", n, "text", 2.5, 3L, 4, 5, 6, 7);
  return first + log.write("\n");
}

int main() {
  NxpLog nxp;
  HostLog host;
  Log *logs[] = {&nxp, &host};
  for (Log *log : logs) {
    int a = both(*log, 1);
    int b = log->write("%g %d\n", 1.5, -1);
    std::printf("%d %d\n", a, b);
  }
  nxp.write("%d\n", 9);
  std::printf("%g\n", NxpLog::sum(10, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10.5));
}

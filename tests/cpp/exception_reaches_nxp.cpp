// Exceptions thrown on the host pass NxP frames to handlers on the host: destructors of both sides
// run in order, callers find their registers, and what was left stays left, a thousand times.
// CROSSINGS: host-to-nxp>=3000
#include <cstdio>
#include <cstring>
#include <flick.h>
#include <stdexcept>

static char trace[256];
static int used;
static void note(char c) {
  if (used < 255)
    trace[used++] = c;
}
struct Guard {
  char name;
  explicit Guard(char c) : name(c) {}
  ~Guard() { note(name); }
};
FLICK_HOST static int fails(int x) {
  Guard g('h');
  if (x == 1)
    throw 5;
  if (x == 2)
    throw std::runtime_error("two");
  return x;
}
FLICK_NXP static int middle(int x) {
  Guard g('m');
  return fails(x) + 1;
}
FLICK_HOST static int between(int x) {
  Guard g('b');
  return middle(x) + 10;
}
// Lives in many registers over the call.
FLICK_NXP static double outer(int x, double a, double b, long c, long d) {
  Guard g('o');
  double e = a * b, f = a - b;
  long i = c ^ d, j = c + d;
  char text[40];
  std::memset(text, 'x', sizeof text);
  int r = between(x);
  return e + f + i + j + a + b + c + d + r + text[7];
}
// Has a frame of variable size, and nothing to clean up.
FLICK_NXP static double deep(int x, int n) {
  char *text = static_cast<char *>(__builtin_alloca(n));
  std::memset(text, n, n);
  return n > 40 ? outer(x, 1.5, 2.5, 3, 4) + text[n - 1] : deep(x, n + 8) + text[0];
}
static const char *attempt(int x, double &out) {
  double a = x + 0.5, b = x * 2.0;
  long c = x + 7;
  const char *what = "none";
  try {
    out = deep(x, 8);
  } catch (int i) {
    what = i == 5 ? "int" : "wrong";
  } catch (const std::exception &e) {
    what = std::strcmp(e.what(), "two") == 0 ? "two" : "wrong";
  }
  if (a != x + 0.5 || b != x * 2.0 || c != x + 7)
    what = "registers";
  return what;
}

int main() {
  for (int round = 0; round < 1000; round++)
    for (int x = 0; x < 3; x++) {
      double result = 0;
      used = 0;
      const char *what = attempt(x, result);
      trace[used] = 0;
      if (round == 0 || round == 999)
        std::printf("%s %g [%s]\n", what, result, trace);
    }
}

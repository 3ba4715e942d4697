// Exceptions, longjmp, signals and backtraces through calls whose arguments are moved at the
// crossing: floats, structs, arguments on the stack, results in memory. Each way is taken several
// times, because the first call by a signature takes another path than those that follow.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <flick.h>
#include <sys/time.h>

struct Triple {
  long x, y, z;
};
static int alive;
struct Counted {
  Counted() { alive++; }
  ~Counted() { alive--; }
};

FLICK_HOST __attribute__((noinline)) static float
thrower(float f, long a, long b, long c, long d, long e, long g, long h, Triple t, bool throws) {
  Counted counted;
  if (throws)
    throw t;
  return f + static_cast<float>(a + b + c + d + e + g + h + t.z);
}
// The frame of this one is passed.
FLICK_NXP __attribute__((noinline)) static double passes(double d, Triple t, bool throws) {
  Counted counted;
  return d + thrower(1.5F, 1, 2, 3, 4, 5, 6, 7, t, throws);
}
FLICK_HOST __attribute__((noinline)) static Triple between(float f, Triple t, long a, long b,
                                                           long c, long d, long e, bool throws) {
  double got = passes(f, t, throws);
  return {a + b + c + d + e, static_cast<long>(got), t.y};
}
// Saved registers have their values again where the exception is caught.
FLICK_NXP __attribute__((noinline)) static long catches(Triple t, float f, int rounds) {
  long sum = 0, a = t.x, b = t.y, c = t.z, d = a * 3, e = b * 5;
  for (int i = 0; i < rounds; i++) {
    try {
      Counted counted;
      Triple got = between(f, t, a, b, c, d, e, i % 2 == 1);
      sum += got.x * 3 + got.y + got.z;
    } catch (const Triple &thrown) {
      sum += thrown.x + thrown.y * 2 + thrown.z * 4 + a + b + c + d + e;
    }
  }
  return sum;
}

static std::jmp_buf target;
FLICK_HOST __attribute__((noinline)) static float jumper(float f, Triple t, int way) {
  if (way)
    std::longjmp(target, way);
  return f + static_cast<float>(t.y);
}
FLICK_NXP __attribute__((noinline)) static float jumps(int way, Triple t, float f) {
  return jumper(f, t, way) * 2;
}
FLICK_NXP __attribute__((noinline)) static float comes_back(Triple t, float f, int way) {
  volatile float kept = f;
  if (setjmp(target))
    return kept + static_cast<float>(t.x);
  return jumper(f, t, way) * 3;
}

static volatile std::sig_atomic_t handled;
FLICK_NXP __attribute__((noinline)) static float in_handler(float f, Triple t, int number) {
  return f + static_cast<float>(t.z + number);
}
static volatile float seen;
static void on_signal(int number) {
  seen = in_handler(0.5F, {1, 2, 3}, number);
  handled = handled + 1;
}
FLICK_HOST __attribute__((noinline)) static float leaf(long a, long b, long c, long d, long e,
                                                       long f, long g, long h, float i, Triple t) {
  return static_cast<float>(a + b + c + d + e + f + g + h + t.x) + i;
}
FLICK_NXP __attribute__((noinline)) static float many(float f, long rounds, Triple t, long d,
                                                      long e, long g, long h, long i, long j) {
  float sum = 0;
  for (long round = 0; round < rounds; round++) {
    t.x = round % 3;
    sum += leaf(1, 2, 3, d, e, g, h, i, f, t) - static_cast<float>(j);
  }
  return sum;
}

// NOLINTNEXTLINE(bugprone-exception-escape)
FLICK_HOST int main() {
  Triple t = {10, 20, 30};
  std::printf("%ld\n", catches(t, 2.25F, 9));
  std::printf("alive %d\n", alive);
  for (int i = 0; i < 4; i++) {
    try {
      std::printf("%g\n", passes(i, t, i % 2 == 1));
    } catch (const Triple &thrown) {
      std::printf("caught %ld\n", thrown.z);
    }
  }
  for (volatile int i = 0; i < 4; i = i + 1) {
    if (int way = setjmp(target))
      std::printf("jumped %d\n", way);
    else
      std::printf("%g\n", jumps(i % 2, t, 1.25F));
    std::printf("%g\n", comes_back(t, 4.5F, i % 2));
  }
  // Signals at any instruction of the moves.
  std::signal(SIGALRM, on_signal);
  itimerval often = {{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &often, nullptr);
  int wrong = 0;
  float expected = many(0.5F, 300, t, 4, 5, 6, 7, 8, 30);
  while (handled < 300)
    wrong += many(0.5F, 300, t, 4, 5, 6, 7, 8, 30) != expected;
  often = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  std::printf("%g, wrong %d, in the handler %g\n", expected, wrong, seen);
  return 0;
}

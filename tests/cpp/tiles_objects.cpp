// Exceptions go through activations of two tiles; virtual functions, templates, lambdas and
// constructors have tiles; a handler of a signal calls a function of another tile.
// CARD: card-two
// OUT: caught 3 after 21 destructors
// OUT: rethrown 4 as 5
// OUT: virtual 11 22 33
// OUT: template 10 2.5
// OUT: lambda 42
// OUT: signal 7 then 100
#include <csignal>
#include <cstdio>
#include <flick.h>
#include <stdexcept>

#define ON_STORAGE FLICK_NXP_ON("storage")
#define ON_COMPUTE FLICK_NXP_ON("compute")
#define ALONE __attribute__((noinline))

namespace {

int destroyed;
struct Counted {
  ~Counted() { destroyed++; }
};

struct Thrown {
  int value;
};

} // namespace

int zig(int n);
ON_COMPUTE ALONE int zag(int n) {
  Counted here;
  if (n == 0)
    throw Thrown{3};
  return zig(n - 1) + 1;
}
ON_STORAGE ALONE int zig(int n) {
  Counted here;
  if (n == 0)
    throw Thrown{4};
  return zag(n - 1) + 1;
}
ON_STORAGE ALONE int catches(int n) {
  try {
    return zag(n);
  } catch (const Thrown &thrown) {
    return thrown.value;
  }
}
ON_COMPUTE ALONE void rethrows() {
  try {
    zig(2);
  } catch (Thrown &thrown) {
    std::printf("rethrown %d", thrown.value);
    thrown.value++;
    throw;
  }
}

struct Shape {
  virtual int size(int x) = 0;
  virtual ~Shape() = default;
};
struct OnCompute : Shape {
  ON_COMPUTE int size(int x) override { return x + 1; }
};
struct OnStorage : Shape {
  ON_STORAGE int size(int x) override { return x + 2; }
};
struct OnHost : Shape {
  int size(int x) override { return x + 3; }
};
ON_STORAGE ALONE int size_of(Shape &shape, int x) { return shape.size(x); }

template <typename T> ON_COMPUTE T sum(T a, T b) { return a + b; }
ON_STORAGE ALONE void sums(int &i, double &d) {
  i = sum(4, 6);
  d = sum(1.0, 1.5);
}

ON_STORAGE ALONE int apply(int x) {
  auto on_host = [x](int y) { return x * y; };
  return on_host(6);
}

static volatile int got;
ON_COMPUTE ALONE int in_handler(int x) { return x + 2; }
static void handler(int) { got = in_handler(5); }
ON_STORAGE ALONE int interrupted(volatile int *seen) {
  int turns = 0;
  std::raise(SIGUSR1);
  for (int i = 0; i < 100; i++)
    turns += *seen == 7;
  return turns;
}

int main() {
  int value = catches(20);
  std::printf("caught %d after %d destructors\n", value, destroyed);
  try {
    rethrows();
  } catch (const Thrown &thrown) {
    std::printf(" as %d\n", thrown.value);
  }
  OnCompute compute;
  OnStorage storage;
  OnHost host;
  std::printf("virtual %d %d %d\n", size_of(compute, 10), size_of(storage, 20), size_of(host, 30));
  int i = 0;
  double d = 0;
  sums(i, d);
  std::printf("template %d %g\n", i, d);
  std::printf("lambda %d\n", apply(7));
  std::signal(SIGUSR1, handler);
  int turns = interrupted(&got);
  std::printf("signal %d then %d\n", got, turns);
}

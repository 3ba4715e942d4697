// Without exceptions and type information: virtual calls, cleanups, new, containers.
// CXXFLAGS: -fno-exceptions -fno-rtti
// OUT: 95
#include <cstdio>
#include <flick.h>
#include <vector>

struct Step {
  virtual ~Step() {}
  virtual long run(long x) const = 0;
};
struct Add : Step {
  std::vector<int> numbers;
  FLICK_NXP explicit Add(int n) {
    for (int i = 0; i < n; i++)
      numbers.push_back(i);
  }
  FLICK_NXP long run(long x) const override {
    for (int n : numbers)
      x += n;
    return x;
  }
};
struct Twice : Step {
  FLICK_HOST long run(long x) const override { return 2 * x; }
};
FLICK_NXP static long all(const std::vector<Step *> &steps, long x) {
  for (const Step *s : steps)
    x = s->run(x);
  return x;
}

int main() {
  std::vector<Step *> steps{new Add(10), new Twice, new Add(3)};
  std::printf("%ld\n", all(steps, 1));
  for (Step *s : steps)
    delete s;
}

// Exceptions through every mixture of frames: eight levels, each on a side of its own, called
// directly, by pointer or as a virtual function; thrown and caught at every pair of levels, in four
// threads.
#include <cstdio>
#include <flick.h>
#include <stdexcept>
#include <thread>
#include <vector>

constexpr int Levels = 8;
struct Run {
  unsigned sides;
  int throws_at, catches_at;
  unsigned long log = 1;
  void note(int v) { log = log * 31 + v; }
};
struct Thrown : std::runtime_error {
  int level;
  explicit Thrown(int l) : std::runtime_error("thrown"), level(l) {}
};
struct Leave {
  Run &run;
  int level;
  ~Leave() { run.note(100 + level); }
};
static int next(Run &run, int level);

template <int Kind> static inline int body(Run &run, int level) {
  Leave leave{run, level};
  long a = level * 3, b = Kind + 5;
  double c = level * 0.5;
  if (level == run.throws_at)
    throw Thrown(level);
  if (level == run.catches_at) {
    try {
      return next(run, level) + level;
    } catch (const Thrown &t) {
      run.note(t.level);
      run.note(static_cast<int>(a + b + c * 2));
      return 1000 * level;
    }
  }
  int r = next(run, level);
  run.note(static_cast<int>(a + b + c * 2));
  return r + 1;
}
struct Node {
  virtual ~Node() = default;
  virtual int visit(Run &run, int level) = 0;
};
struct HostNode : Node {
  FLICK_HOST int visit(Run &run, int level) override { return body<0>(run, level); }
};
struct NxpNode : Node {
  FLICK_NXP int visit(Run &run, int level) override { return body<1>(run, level); }
};
FLICK_HOST static int on_host(Run &run, int level) { return body<2>(run, level); }
FLICK_NXP static int on_nxp(Run &run, int level) { return body<3>(run, level); }
static HostNode host_node;
static NxpNode nxp_node;

FLICK_BOTH static int next(Run &run, int level) {
  if (++level == Levels)
    return 0;
  bool nxp = run.sides >> level & 1;
  switch (level % 3) {
  case 0:
    return nxp ? on_nxp(run, level) : on_host(run, level);
  case 1: {
    int (*volatile f)(Run &, int) = nxp ? on_nxp : on_host;
    return f(run, level);
  }
  default:
    return (nxp ? static_cast<Node &>(nxp_node) : host_node).visit(run, level);
  }
}

static unsigned long work(int from, int to) {
  unsigned long log = 0;
  for (int sides = from; sides < to; sides++)
    for (int t = 0; t < Levels; t++)
      for (int c = 0; c <= t; c++) {
        Run run{static_cast<unsigned>(sides * 37 & 255), t, c};
        int r = -1;
        try {
          r = next(run, -1);
        } catch (const Thrown &) {
          run.note(9);
        }
        run.note(r);
        log ^= run.log * (2 * sides + 1);
      }
  return log;
}

int main() {
  unsigned long logs[4];
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&logs, i] { logs[i] = work(16 * i, 16 * i + 16); });
  for (auto &t : threads)
    t.join();
  for (unsigned long log : logs)
    std::printf("%lx\n", log);
}

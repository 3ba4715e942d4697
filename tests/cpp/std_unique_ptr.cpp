// std::unique_ptr by value across sides, with deleters of both, arrays, and a list of owners that
// is destroyed recursively.
// OUT: 45 10 0 42 0
#include <cstdio>
#include <flick.h>
#include <memory>

static int alive, closed;
struct Node {
  int v;
  std::unique_ptr<Node> next;
  FLICK_NXP Node(int x, std::unique_ptr<Node> n) : v(x), next(std::move(n)) { alive++; }
  FLICK_NXP ~Node() { alive--; }
};
struct Close {
  FLICK_NXP void operator()(int *p) const {
    closed += *p;
    delete p;
  }
};
FLICK_NXP static std::unique_ptr<Node> push(std::unique_ptr<Node> head, int v) {
  return std::make_unique<Node>(v, std::move(head));
}
FLICK_HOST static std::unique_ptr<Node> host_push(std::unique_ptr<Node> head, int v) {
  return std::unique_ptr<Node>(new Node(v, std::move(head)));
}
FLICK_NXP static int sum(const Node *n) { return n ? n->v + sum(n->next.get()) : 0; }
FLICK_NXP static std::unique_ptr<int, Close> open(int x) {
  return std::unique_ptr<int, Close>(new int(x));
}
FLICK_HOST static void take(std::unique_ptr<int, Close> p) { *p += 1; }

int main() {
  std::unique_ptr<Node> list;
  for (int i = 0; i < 10; i++)
    list = i % 2 ? push(std::move(list), i) : host_push(std::move(list), i);
  int s = sum(list.get()), n = alive;
  list.reset();
  take(open(41));
  auto words = std::make_unique<double[]>(5);
  std::printf("%d %d %d %d %g\n", s, n, alive, closed, words[4]);
}

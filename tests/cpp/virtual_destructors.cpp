// delete through a base pointer runs the derived destructor and the matching deallocation; objects
// made on one side are deleted on the other.
// OUT: ~leaf 1
// OUT: ~node
// OUT: ~leaf 2
// OUT: ~node
// OUT: ~leaf 3
// OUT: ~node
// OUT: alive 0
#include <cstdio>
#include <flick.h>

static int alive;
FLICK_HOST static void say(const char *what) { std::puts(what); }
struct Node {
  FLICK_NXP Node() { alive++; }
  FLICK_HOST virtual ~Node() {
    alive--;
    say("~node");
  }
};
struct Leaf : Node {
  int *data;
  FLICK_NXP explicit Leaf(int n) : data(new int(n)) {}
  FLICK_NXP ~Leaf() override {
    std::printf("~leaf %d\n", *data);
    delete data;
  }
};
FLICK_NXP static Node *make_on_nxp(int n) { return new Leaf(n); }
FLICK_HOST static Node *make_on_host(int n) { return new Leaf(n); }
FLICK_NXP static void drop_on_nxp(Node *n) { delete n; }
FLICK_HOST static void drop_on_host(Node *n) { delete n; }

int main() {
  drop_on_host(make_on_nxp(1));
  drop_on_nxp(make_on_host(2));
  drop_on_nxp(make_on_nxp(3));
  drop_on_nxp(nullptr);
  std::printf("alive %d\n", alive);
}

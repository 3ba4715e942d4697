// dynamic_cast down, across and to void, typeid of objects and types, on both sides.
// OUT: nxp 1 0 1 1 1
// OUT: host 1 0 1 1 1
// OUT: 4Leaf 6Branch
#include <cstdio>
#include <flick.h>
#include <typeinfo>

struct Base {
  long id = 1;
  virtual ~Base() = default;
};
struct Side {
  long other = 2;
  virtual ~Side() = default;
};
struct Leaf : Base, Side {};
struct Branch : Base {};

struct Answers {
  bool down, wrong, across, whole, type;
};
FLICK_NXP static void nxp_ask(Base *b, Answers *a) {
  a->down = dynamic_cast<Leaf *>(b) != nullptr;
  a->wrong = dynamic_cast<Branch *>(b) != nullptr;
  Side *s = dynamic_cast<Side *>(b);
  a->across = s && s->other == 2;
  a->whole = dynamic_cast<void *>(s) == dynamic_cast<void *>(b);
  a->type = typeid(*b) == typeid(Leaf) && typeid(*b) != typeid(Base);
}
FLICK_HOST static void host_ask(Base *b, Answers *a) {
  a->down = dynamic_cast<Leaf *>(b) != nullptr;
  a->wrong = dynamic_cast<Branch *>(b) != nullptr;
  Side *s = dynamic_cast<Side *>(b);
  a->across = s && s->other == 2;
  a->whole = dynamic_cast<void *>(s) == dynamic_cast<void *>(b);
  a->type = typeid(*b) == typeid(Leaf) && typeid(*b) != typeid(Base);
}
FLICK_NXP static const char *name_of(const Base &b) { return typeid(b).name(); }

int main() {
  Leaf l;
  Branch b;
  Answers n, h;
  nxp_ask(&l, &n);
  host_ask(&l, &h);
  std::printf("nxp %d %d %d %d %d\n", n.down, n.wrong, n.across, n.whole, n.type);
  std::printf("host %d %d %d %d %d\n", h.down, h.wrong, h.across, h.whole, h.type);
  std::printf("%s %s\n", name_of(l), name_of(b));
}

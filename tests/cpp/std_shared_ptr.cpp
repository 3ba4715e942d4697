// std::shared_ptr and weak_ptr: counts kept by both sides and by threads, aliasing, casts, objects
// that know themselves.
// LIBS: -lpthread
// OUT: 4 32 -1 0
// OUT: 0 30 1 1
#include <cstdio>
#include <flick.h>
#include <memory>
#include <thread>

struct Base {
  virtual ~Base() = default;
  FLICK_NXP virtual int value() const { return 1; }
};
static int gone;
struct Derived : Base, std::enable_shared_from_this<Derived> {
  int member = 30;
  FLICK_HOST int value() const override { return 2; }
  FLICK_NXP std::shared_ptr<Derived> self() { return shared_from_this(); }
  FLICK_NXP ~Derived() override { gone++; }
};
FLICK_NXP static long copies(std::shared_ptr<Derived> p, int n) {
  for (int i = 0; i < n; i++) {
    std::shared_ptr<Derived> q = p;
    std::shared_ptr<Base> b = q;
  }
  return p.use_count();
}
FLICK_NXP static int cast(const std::shared_ptr<Base> &b) {
  std::shared_ptr<Derived> d = std::dynamic_pointer_cast<Derived>(b);
  return d ? d->member + b->value() : -1;
}
FLICK_NXP static bool expired(const std::weak_ptr<Derived> &w) { return !w.lock(); }

int main() {
  auto p = std::make_shared<Derived>();
  std::weak_ptr<Derived> w = p;
  std::shared_ptr<int> inside(p, &p->member);
  std::thread a([&] { copies(p, 200); }), b([&] { copies(p, 200); });
  a.join(), b.join();
  auto self = p->self();
  long n = copies(p, 1);
  int c = cast(p), other = cast(std::make_shared<Base>());
  std::printf("%ld %d %d %d\n", n, c, other, expired(w));
  p.reset();
  self.reset();
  std::printf("%d %d", expired(w), *inside);
  inside.reset();
  std::printf(" %d %d\n", expired(w), gone);
}

// A pure virtual function called on the NxP while the base is under construction: the runtime's
// terminate, as natively.
// EXIT: signal ABRT
// OUT: before
#include <cstdio>
#include <flick.h>

struct Base {
  Base();
  virtual ~Base() = default;
  virtual int value() = 0;
};
FLICK_NXP static int indirectly(Base *b) { return b->value(); }
Base::Base() { indirectly(this); }
struct Derived : Base {
  FLICK_NXP int value() override { return 1; }
};

int main() {
  std::puts("before");
  std::fflush(stdout);
  Derived d;
  return d.value();
}

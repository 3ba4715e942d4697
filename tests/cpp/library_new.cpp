// LLVM knows `new` and `delete` in all their forms, takes pairs away and puts guards around static
// locals, on the NxP as on the host.
// SKIP-GCC: the compilers choose which allocations they drop
#include <cstdio>
#include <cstdlib>
#include <flick.h>
#include <new>

struct alignas(64) Wide {
  int x[32];
};
struct Counted {
  static int living;
  int x;
  explicit Counted(int x) : x(x) { ++living; }
  ~Counted() { --living; }
};
int Counted::living;

static volatile int number = 5;

FLICK_NXP int pairs() {
  int sum = 0;
  delete new int(number);
  delete[] new int[static_cast<unsigned>(number)];
  for (int i = 0; i < number; ++i) {
    auto *one = new int(i);
    auto *some = new int[10]();
    auto *counted = new Counted(i);
    auto *many = new Counted[2]{Counted(1), Counted(2)};
    auto *wide = new Wide{};
    auto *wides = new Wide[2];
    auto *quiet = new (std::nothrow) int(7);
    auto *quiets = new (std::nothrow) int[7];
    auto *wide_quiet = new (std::nothrow) Wide{};
    auto *wide_quiets = new (std::nothrow) Wide[2];
    some[i] += *one;
    sum += some[i] + counted->x + many[1].x + wide->x[i] + *quiet + Counted::living;
    sum += static_cast<int>(reinterpret_cast<unsigned long>(wide) % 64 +
                            reinterpret_cast<unsigned long>(wides) % 64);
    quiets[0] = wide_quiet->x[0] + (wide_quiets != nullptr);
    sum += quiets[0];
    delete one;
    delete[] some;
    delete counted;
    delete[] many;
    delete wide;
    delete[] wides;
    operator delete(quiet, std::nothrow);
    operator delete[](quiets, std::nothrow);
    operator delete(wide_quiet, std::align_val_t(64), std::nothrow);
    operator delete[](wide_quiets, std::align_val_t(64), std::nothrow);
  }
  return sum;
}

FLICK_NXP int by_name() {
  void *a = operator new(8), *b = operator new[](8), *c = operator new(8, std::align_val_t(32));
  operator delete(operator new(8), 8);
  void *d = operator new[](8, std::align_val_t(32)), *e = operator new(8, std::align_val_t(32));
  void *f = operator new[](8, std::align_val_t(32));
  bool all = a && b && c && d && e && f;
  operator delete(a);
  operator delete[](b, 8);
  operator delete(c, 8, std::align_val_t(32));
  operator delete[](d, 8, std::align_val_t(32));
  operator delete(e, std::align_val_t(32));
  operator delete[](f, std::align_val_t(32));
  return all;
}

FLICK_NXP int &local(int x) {
  static Counted only(x);
  return only.x;
}
FLICK_NXP int failing() {
  static int tries = 0;
  try {
    static Counted never(tries++ < 2 ? throw 3 : 9);
    return never.x;
  } catch (int) {
    return -1;
  }
}

int main() {
  std::printf("%d %d\n", pairs(), by_name());
  std::printf("%d %d %d\n", local(4), local(6), Counted::living);
  std::printf("%d ", failing());
  std::printf("%d ", failing());
  std::printf("%d %d\n", failing(), Counted::living);
  return 0;
}

// operator new and delete replaced by the program, globally and in a class: NxP code uses them too.
// SKIP-VALGRIND: memcheck replaces the program's own operator new
// OUT: 154 7 news 2 deletes 1 pooled 0
// OUT: deletes 2
#include <cstdio>
#include <cstdlib>
#include <flick.h>
#include <new>

static int news, deletes, pooled;
void *operator new(std::size_t n) {
  news++;
  return std::malloc(n ? n : 1);
}
void operator delete(void *p) noexcept {
  deletes++;
  std::free(p);
}
void operator delete(void *p, std::size_t) noexcept {
  deletes++;
  std::free(p);
}

struct Pooled {
  long v;
  static Pooled *slots() {
    alignas(long) static char memory[16 * sizeof(long)];
    return reinterpret_cast<Pooled *>(memory);
  }
  FLICK_NXP static void *operator new(std::size_t) { return slots() + pooled++; }
  FLICK_NXP static void operator delete(void *) { pooled--; }
};
// What is looked at here cannot be left out by the compiler.
static int *volatile seen;
FLICK_NXP static int on_nxp() {
  int *a = new int(4);
  seen = a;
  Pooled *p = new Pooled{5};
  bool inside = p >= Pooled::slots() && p < Pooled::slots() + 16;
  int r = *a + static_cast<int>(p->v) * 10 + inside * 100;
  delete a;
  delete p;
  return r;
}
FLICK_NXP static int *kept() {
  int *k = new int(7);
  seen = k;
  return k;
}

int main() {
  int r = on_nxp();
  int *k = kept();
  std::printf("%d %d news %d deletes %d pooled %d\n", r, *k, news, deletes, pooled);
  delete k;
  std::printf("deletes %d\n", deletes);
}

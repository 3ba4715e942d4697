// Types aligned beyond what malloc gives: aligned operator new, stack objects and members, from
// both sides.
// CXXFLAGS: -std=c++17
// OUT: 0 0 0 0
// OUT: 20 20 6
#include <cstdint>
#include <cstdio>
#include <flick.h>

struct alignas(64) Line {
  int v = 6;
  char rest[100] = {};
};
struct alignas(4096) Page {
  int v = 7;
};
template <class T> static int misaligned(const T *p) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(p) % alignof(T));
}
FLICK_NXP static Line *nxp_lines(int n) { return new Line[n]; }
FLICK_NXP static Page *nxp_page() { return new Page; }
FLICK_HOST static Page *host_page() { return new Page; }
FLICK_NXP static void nxp_drop(Page *p) { delete p; }
FLICK_HOST static int look(const Line &l) { return misaligned(&l) + l.v; }
FLICK_NXP static int on_stack(int n) {
  Line a[2];
  char odd[3] = {1, 2, static_cast<char>(n)};
  Line b;
  return look(a[0]) + look(a[1]) + look(b) + odd[n];
}

int main() {
  Line *l = nxp_lines(3);
  Page *p = nxp_page(), *q = host_page();
  std::printf("%d %d %d %d\n", misaligned(l), misaligned(l + 2), misaligned(p), misaligned(q));
  std::printf("%d %d %d\n", l[2].v + p->v + q->v, on_stack(1), look(l[1]));
  delete[] l;
  delete p;
  nxp_drop(q);
}

// Placement new and explicit destructor calls in memory of either side, a vector's way of life.
// OUT: 4 9 4 4
// OUT: 0
#include <cstdio>
#include <flick.h>
#include <new>
#include <utility>

struct Thing {
  int v;
  static int alive;
  FLICK_NXP explicit Thing(int x) : v(x) { alive++; }
  FLICK_NXP Thing(Thing &&t) noexcept : v(t.v) {
    t.v = -1;
    alive++;
  }
  FLICK_HOST ~Thing() { alive--; }
};
int Thing::alive;
alignas(Thing) static unsigned char room[4 * sizeof(Thing)];

FLICK_NXP static Thing *build(void *memory, int n) {
  Thing *first = static_cast<Thing *>(memory);
  for (int i = 0; i < n; i++)
    new (first + i) Thing(i * i);
  return first;
}
FLICK_NXP static void destroy(Thing *t, int n) {
  while (n)
    t[--n].~Thing();
}
FLICK_HOST static Thing *move_all(Thing *from, void *to, int n) {
  Thing *t = static_cast<Thing *>(to);
  for (int i = 0; i < n; i++) {
    new (t + i) Thing(std::move(from[i]));
    from[i].~Thing();
  }
  return t;
}

int main() {
  void *nxp = flick_alloc(FLICK_MEM_NXP, 4 * sizeof(Thing));
  Thing *a = build(room, 4);
  int before = Thing::alive;
  Thing *b = move_all(a, nxp, 4);
  std::printf("%d %d %d %d\n", before, b[3].v, b[2].v, Thing::alive);
  destroy(b, 4);
  flick_free(nxp);
  std::printf("%d\n", Thing::alive);
}

// An allocator of the program's own, with state, in containers that both sides change.
// OUT: 40 33 5 1 open 34
// OUT: open 0 used 1
#include <cstddef>
#include <cstdio>
#include <flick.h>
#include <list>
#include <vector>

struct Arena {
  alignas(16) unsigned char memory[8192];
  std::size_t used = 0;
  int open = 0;
};
template <class T> struct ArenaAllocator {
  using value_type = T;
  Arena *arena;
  explicit ArenaAllocator(Arena *a) : arena(a) {}
  template <class U> ArenaAllocator(const ArenaAllocator<U> &o) : arena(o.arena) {}
  FLICK_NXP T *allocate(std::size_t n) {
    void *p = arena->memory + arena->used;
    arena->used += (n * sizeof(T) + 15) & ~std::size_t{15};
    arena->open++;
    return static_cast<T *>(p);
  }
  FLICK_HOST void deallocate(T *, std::size_t) { arena->open--; }
  friend bool operator==(const ArenaAllocator &a, const ArenaAllocator &b) {
    return a.arena == b.arena;
  }
  friend bool operator!=(const ArenaAllocator &a, const ArenaAllocator &b) {
    return a.arena != b.arena;
  }
};
using Vector = std::vector<int, ArenaAllocator<int>>;
using List = std::list<long, ArenaAllocator<long>>;
FLICK_NXP static void fill(Vector &v, List &l) {
  for (int i = 0; i < 20; i++) {
    v.push_back(i);
    l.push_front(i);
  }
}
FLICK_HOST static void thin(List &l) {
  l.remove_if([](long x) { return x % 3 == 0; });
}
static Arena arena;

int main() {
  {
    ArenaAllocator<int> a(&arena);
    Vector v(a);
    List l{ArenaAllocator<long>(&arena)};
    fill(v, l);
    thin(l);
    fill(v, l);
    std::printf("%zu %zu %d %ld open %d\n", v.size(), l.size(), v[25], l.back(), arena.open);
  }
  std::printf("open %d used %d\n", arena.open, arena.used > 1000);
}

// C's qsort and bsearch with lambdas of both sides for comparisons, called from both sides.
#include <cstdio>
#include <cstdlib>
#include <flick.h>

struct Entry {
  int key;
  char name;
};
FLICK_NXP static void sort_on_nxp(Entry *e, std::size_t n) {
  std::qsort(e, n, sizeof *e, [](const void *a, const void *b) {
    return static_cast<const Entry *>(a)->key - static_cast<const Entry *>(b)->key;
  });
}
FLICK_HOST static void sort_on_host(Entry *e, std::size_t n) {
  std::qsort(e, n, sizeof *e, [](const void *a, const void *b) FLICK_NXP {
    return static_cast<const Entry *>(b)->name - static_cast<const Entry *>(a)->name;
  });
}
FLICK_NXP static char find(const Entry *e, std::size_t n, int key) {
  Entry wanted{key, 0};
  auto by_key = [](const void *a, const void *b) FLICK_HOST {
    return static_cast<const Entry *>(a)->key - static_cast<const Entry *>(b)->key;
  };
  auto found = static_cast<const Entry *>(std::bsearch(&wanted, e, n, sizeof *e, by_key));
  return found ? found->name : '-';
}

int main() {
  Entry list[] = {{5, 'a'}, {1, 'b'}, {9, 'c'}, {3, 'd'}};
  sort_on_nxp(list, 4);
  for (const Entry &e : list)
    std::printf("%d%c ", e.key, e.name);
  std::printf("%c%c\n", find(list, 4, 9), find(list, 4, 2));
  sort_on_host(list, 4);
  for (const Entry &e : list)
    std::printf("%d%c ", e.key, e.name);
  std::puts("");
}

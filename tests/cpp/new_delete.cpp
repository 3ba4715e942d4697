// new on one side and delete on the other: objects, arrays with cookies, nothrow; what NxP code
// makes is freed on the host and the reverse.
// OUT: 9 alive 11
// OUT: 0 alive 0 1
#include <cstdio>
#include <flick.h>
#include <new>

static int alive;
struct Item {
  int n;
  FLICK_NXP Item(int i = 3) : n(i) { alive++; }
  FLICK_HOST ~Item() { alive--; }
};
FLICK_NXP static Item *nxp_one(int i) { return new Item(i); }
FLICK_HOST static Item *host_one(int i) { return new Item(i); }
FLICK_NXP static Item *nxp_many(int n) { return new Item[n]; }
FLICK_HOST static Item *host_many(int n) { return new Item[n]; }
FLICK_NXP static void nxp_free(Item *i) { delete i; }
FLICK_HOST static void host_free(Item *i) { delete i; }
FLICK_NXP static void nxp_free_all(Item *i) { delete[] i; }
FLICK_HOST static void host_free_all(Item *i) { delete[] i; }
FLICK_NXP static int *numbers(int n) { return new (std::nothrow) int[n](); }
static char *volatile escaped;
FLICK_NXP static bool too_much() {
  volatile std::size_t n = ~std::size_t{0} / 16;
  char *p = new (std::nothrow) char[n];
  escaped = p;
  bool none = escaped == nullptr;
  delete[] p;
  return none;
}

int main() {
  Item *a = nxp_one(1), *b = host_one(2), *c = nxp_many(5), *d = host_many(4);
  int sum = a->n + b->n + c[4].n + d[3].n;
  std::printf("%d alive %d\n", sum, alive);
  host_free(a), nxp_free(b), host_free_all(c), nxp_free_all(d);
  int *n = numbers(100);
  int s = 0;
  for (int i = 0; i < 100; i++)
    s += n[i];
  delete[] n;
  std::printf("%d alive %d %d\n", s, alive, too_much());
}

// A template assembled of policies by inheritance and by template template parameters, the policies
// on different sides.
// OUT: 11 4
#include <cstdio>
#include <flick.h>

template <class T> struct FixedStorage {
  T items[16];
  int n = 0;
  FLICK_NXP void add(T x) { items[n++] = x; }
};
template <class T> struct HeapStorage {
  T *items = nullptr;
  int n = 0;
  HeapStorage() = default;
  HeapStorage(const HeapStorage &) = delete;
  HeapStorage &operator=(const HeapStorage &) = delete;
  FLICK_HOST ~HeapStorage() { delete[] items; }
  FLICK_NXP void add(T x) {
    T *more = new T[n + 1];
    for (int i = 0; i < n; i++)
      more[i] = items[i];
    delete[] items;
    items = more;
    items[n++] = x;
  }
};
struct Checked {
  FLICK_HOST static bool accepts(int x) { return x >= 0; }
};
struct Unchecked {
  FLICK_NXP static bool accepts(int) { return true; }
};
template <class T, template <class> class Storage, class Check>
struct Bag : private Storage<T>, private Check {
  FLICK_NXP Bag &put(T x) {
    if (Check::accepts(static_cast<int>(x)))
      this->add(x);
    return *this;
  }
  FLICK_HOST long sum() const {
    long s = 0;
    for (int i = 0; i < this->n; i++)
      s += static_cast<long>(this->items[i]);
    return s;
  }
};

int main() {
  Bag<int, FixedStorage, Checked> a;
  Bag<double, HeapStorage, Unchecked> b;
  a.put(5).put(-7).put(6);
  b.put(5).put(-7.5).put(6);
  std::printf("%ld %ld\n", a.sum(), b.sum());
}

// Handlers in NxP code for exceptions from the host: by value, reference, base class, pointer and
// `...`; the right one of several, thrown again, replaced by another; with the function's own
// variables as they were.
#include <cstdio>
#include <cstring>
#include <flick.h>
#include <stdexcept>
#include <string>

struct Base {
  int n;
  explicit Base(int n) : n(n) {}
  virtual ~Base() { std::printf("~Base %d\n", n); }
};
struct Other {
  virtual ~Other() = default;
  long pad = 77;
};
// The handler's reference is not the object's first byte.
struct Derived : Other, Base {
  explicit Derived(int n) : Base(n) {}
};
namespace {
struct Hidden {
  int v;
};
} // namespace
static const char *const text = "text";

FLICK_HOST static int fails(int x) {
  switch (x) {
  case 1:
    throw 11;
  case 2:
    throw std::out_of_range("range");
  case 3:
    throw Derived(3);
  case 4:
    throw text;
  case 5:
    throw Hidden{55};
  case 6:
    throw std::string("string");
  case 7:
    throw 7.5;
  }
  return x;
}
FLICK_NXP static int leaf(int x) { return fails(x) * 2; }

FLICK_NXP static long catches(int x, double a, long b) {
  char local[32];
  std::strcpy(local, "kept");
  double c = a * 3;
  long d = b + 5;
  long r;
  try {
    r = leaf(x);
  } catch (int i) {
    r = 100 + i;
  } catch (const std::logic_error &e) {
    std::printf("logic %s\n", e.what());
    r = 200;
  } catch (Base &base) {
    r = 300 + base.n;
  } catch (const char *p) {
    r = std::strcmp(p, text) ? -1 : 400;
  } catch (Hidden h) {
    r = 500 + h.v;
  } catch (...) {
    r = 600;
  }
  return r * 10000 + static_cast<long>(a + c) + b + d + (std::strcmp(local, "kept") == 0);
}

// Caught, and thrown on as it is or as another.
FLICK_NXP static int again(int x) {
  try {
    try {
      return leaf(x);
    } catch (int i) {
      std::printf("again %d\n", i);
      throw;
    } catch (const std::exception &e) {
      throw Hidden{static_cast<int>(std::strlen(e.what()))};
    }
  } catch (Hidden h) {
    return 1000 + h.v;
  } catch (int i) {
    return 2000 + i;
  }
}
FLICK_NXP static int lets_go(int x) {
  try {
    return leaf(x);
  } catch (double) {
    return -7;
  }
}
FLICK_NXP static int around(int x) {
  try {
    return lets_go(x);
  } catch (...) {
    return -1;
  }
}

int main() {
  for (int x = 0; x < 8; x++)
    std::printf("%ld\n", catches(x, 1.25, 40));
  for (int x = 0; x < 3; x++)
    std::printf("%d\n", again(x));
  for (int x : {1, 6, 7})
    std::printf("%d\n", around(x));
  // Nothing of it stays.
  long sum = 0;
  for (int i = 0; i < 60; i++)
    sum += again(1 + i % 2) + around(1);
  std::printf("%ld\n", sum);
}

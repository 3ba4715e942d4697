// NxP code throws: to itself, to its host callers, over frames of both sides; objects are destroyed
// once; exception_ptr, nested exceptions, uncaught_exceptions, function try blocks, constructors
// that fail half way.
#include <cstdio>
#include <exception>
#include <flick.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static int alive;
struct Counted {
  int id;
  explicit Counted(int i) : id(i) { alive++; }
  Counted(const Counted &o) : id(o.id) { alive++; }
  ~Counted() { alive--; }
};

FLICK_NXP static int half(int n) {
  if (n % 2)
    throw std::domain_error("odd " + std::to_string(n));
  return n / 2;
}
FLICK_HOST static int by_host(int n) {
  Counted c(n);
  return half(n);
}
FLICK_NXP static int by_nxp(int n) {
  Counted c(n);
  std::vector<Counted> many(3, c);
  return by_host(n) + static_cast<int>(many.size());
}
FLICK_NXP static void throws_object(int n) {
  Counted local(n);
  throw local;
}
FLICK_NXP static int catches_own(int n) {
  try {
    throws_object(n);
  } catch (const Counted &c) {
    return c.id + 1;
  }
  return 0;
}
struct Parts {
  Counted a, b;
  std::unique_ptr<int> p;
  FLICK_NXP explicit Parts(int n) try : a(n), b(n + 1), p(new int(n)) {
    if (n == 2)
      throw n;
  } catch (int i) {
    throw std::runtime_error("part " + std::to_string(i));
  }
};
FLICK_NXP static std::exception_ptr keep(int n) {
  try {
    half(n);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}
FLICK_NXP static void pass_on(std::exception_ptr p) { std::rethrow_exception(p); }
struct Watch {
  FLICK_NXP ~Watch() { std::printf("uncaught %d\n", std::uncaught_exceptions()); }
};
FLICK_NXP static void watched(int n) {
  Watch w;
  half(n);
}
FLICK_NXP static void wraps(int n) {
  try {
    half(n);
  } catch (...) {
    std::throw_with_nested(std::runtime_error("outer"));
  }
}

static void show(const std::exception &e, int depth) {
  std::printf("%*s%s\n", 2 * depth, "", e.what());
  try {
    std::rethrow_if_nested(e);
  } catch (const std::exception &inner) {
    show(inner, depth + 1);
  }
}

int main() {
  for (int n = 2; n < 6; n++)
    try {
      std::printf("%d\n", by_nxp(n));
    } catch (const std::domain_error &e) {
      std::printf("%s, alive %d\n", e.what(), alive);
    }
  std::printf("%d\n", catches_own(41));
  std::printf("alive %d\n", alive);
  for (int n = 1; n < 3; n++)
    try {
      Parts parts(n);
      std::printf("alive %d\n", alive);
    } catch (const std::runtime_error &e) {
      std::printf("%s, alive %d\n", e.what(), alive);
    }
  std::exception_ptr p = keep(7);
  for (int i = 0; i < 2; i++)
    try {
      pass_on(p);
    } catch (const std::exception &e) {
      std::printf("kept %s\n", e.what());
    }
  watched(2);
  try {
    watched(3);
  } catch (const std::exception &) {
    std::puts("watched");
  }
  try {
    wraps(9);
  } catch (const std::exception &e) {
    show(e, 0);
  }
  std::printf("alive %d\n", alive);
}

// Exceptions: across functions and their destructors, nested and rethrown, of classes with bases,
// from constructors, through virtual functions, in several threads, and kept for later.
// NEEDS: coherent caches
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeinfo>
#include <vector>

namespace {
struct Noisy {
  explicit Noisy(const char *name) : name(name) {}
  ~Noisy() { printf("  %s ends\n", name); }
  const char *name;
};

struct Base {
  virtual ~Base() = default;
  virtual const char *name() const { return "base"; }
};
struct Other {
  virtual ~Other() = default;
  int number = 7;
};
struct Derived : Base, Other {
  const char *name() const override { return "derived"; }
};

[[gnu::noinline]] int deep(int depth) {
  Noisy noisy(depth % 2 ? "odd" : "even");
  if (depth == 0)
    throw std::out_of_range("too deep");
  return deep(depth - 1) + 1;
}

void cleanups() {
  try {
    deep(3);
  } catch (const std::exception &error) {
    printf("caught %s\n", error.what());
  }
}

void kinds() {
  for (int kind = 0; kind < 5; kind++) {
    try {
      switch (kind) {
      case 0:
        throw 42;
      case 1:
        throw "text";
      case 2:
        throw Derived();
      case 3:
        throw std::string("a string");
      default:
        throw 2.5;
      }
    } catch (int number) {
      printf("int %d\n", number);
    } catch (const char *text) {
      printf("text %s\n", text);
    } catch (const Other &other) {
      printf("other %d, %s\n", other.number, dynamic_cast<const Base &>(other).name());
    } catch (const std::string &text) {
      printf("string %s\n", text.c_str());
    } catch (...) {
      printf("another one\n");
    }
  }
}

struct Part {
  explicit Part(int n) : n(n) {
    if (n == 2)
      throw std::runtime_error("no third part");
    printf("  part %d begins\n", n);
  }
  ~Part() { printf("  part %d ends\n", n); }
  int n;
};
struct Whole {
  Part first{0}, second{1}, third{2};
};

void constructors() {
  try {
    auto whole = std::make_unique<Whole>();
  } catch (std::runtime_error &error) {
    printf("not made: %s\n", error.what());
  }
}

void nested() {
  try {
    try {
      try {
        throw std::invalid_argument("inner");
      } catch (...) {
        std::throw_with_nested(std::runtime_error("outer"));
      }
    } catch (std::exception &error) {
      printf("rethrown: %s\n", error.what());
      throw;
    }
  } catch (const std::exception &error) {
    printf("outside: %s\n", error.what());
    try {
      std::rethrow_if_nested(error);
    } catch (const std::exception &inner) {
      printf("inside: %s\n", inner.what());
    }
  }
  try {
    Noisy noisy("first");
    try {
      throw 1;
    } catch (int) {
      printf("uncaught %d\n", std::uncaught_exceptions());
      throw std::bad_alloc();
    }
  } catch (std::bad_alloc &error) {
    printf("%s\n", error.what());
  }
}

void of_the_library() {
  try {
    std::vector<int>(3).at(5);
  } catch (std::out_of_range &error) {
    printf("%s\n", error.what());
  }
  try {
    printf("%d\n", std::stoi("no number"));
  } catch (std::invalid_argument &error) {
    printf("%s\n", error.what());
  }
  try {
    volatile size_t much = size_t(1) << 60;
    delete[] new char[much];
  } catch (std::bad_alloc &) {
    printf("so much memory is not there\n");
  }
  Base base;
  Base *plain = &base;
  try {
    dynamic_cast<Derived &>(*plain).name();
  } catch (std::bad_cast &error) {
    printf("%s\n", error.what());
  }
  Base *gone = nullptr;
  try {
    printf("%s\n", typeid(*gone).name());
  } catch (std::bad_typeid &error) {
    printf("%s\n", error.what());
  }
}

// Each thread throws often, so that searches of several ones overlap.
[[gnu::noinline]] void throw_number(int number) {
  auto held = std::make_shared<int>(number);
  if (number % 3)
    throw std::runtime_error(std::to_string(*held));
  throw *held;
}

int count(int first) {
  int sum = 0;
  for (int n = first; n < first + 300; n++)
    try {
      throw_number(n);
    } catch (int number) {
      sum += number;
    } catch (std::runtime_error &error) {
      sum += std::stoi(error.what());
    }
  return sum;
}

void threads() {
  std::vector<int> sums(6);
  std::vector<std::thread> all;
  for (int n = 0; n < 6; n++)
    all.emplace_back([n, &sums] { sums[n] = count(1000 * n); });
  for (std::thread &thread : all)
    thread.join();
  for (int sum : sums)
    printf("%d ", sum);
  std::exception_ptr kept;
  std::thread([&kept] {
    try {
      throw std::logic_error("of a thread");
    } catch (...) {
      kept = std::current_exception();
    }
  }).join();
  try {
    std::rethrow_exception(kept);
  } catch (std::logic_error &error) {
    printf("kept: %s\n", error.what());
  }
}
} // namespace

int main() try {
  cleanups();
  kinds();
  constructors();
  nested();
  of_the_library();
  threads();
  throw 3;
} catch (int number) {
  printf("main ends with %d\n", number);
  return 0;
}

// NxP functions that the C++ library calls: through virtual functions that it knows (streams,
// memory resources, facets, error categories), its handlers, and its algorithms and threads.
// CXXFLAGS: -std=c++20
// LIBS: -lpthread
// OUT: SHOUTED 12 -> 10
// OUT: read: 3 1 4
// OUT: resource: 2 given 2 taken back
// OUT: facet: 1.234,5
// OUT: category: about 7 of ours
// OUT: sorted: 9 8 5 3 1 | 5 3 | 26
// OUT: once: 1, threads 10, stopped 1
// OUT: function: 42 43 through 12
// OUT: new handler: 1
// OUT: what: from the NxP
// OUT: terminating
// OUT: quick 1
// EXIT: 5
// SKIP-VALGRIND: memcheck ends the program where operator new fails
// CROSSINGS: unrecorded ends by quick_exit
// SKIP-ASAN: the heap is the sanitizer's there
#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <flick.h>
#include <functional>
#include <iostream>
#include <locale>
#include <memory_resource>
#include <mutex>
#include <new>
#include <numeric>
#include <ostream>
#include <sstream>
#include <stop_token>
#include <streambuf>
#include <system_error>
#include <thread>
#include <vector>

struct Shout : std::streambuf {
  std::string text;
  FLICK_NXP int overflow(int c) override {
    text += static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    return c;
  }
};
struct Digits : std::streambuf {
  int at = 0;
  char one[1] = {0};
  FLICK_NXP int underflow() override {
    static const char text[] = "3 1 4 ";
    if (at == 6)
      return traits_type::eof();
    one[0] = text[at++];
    setg(one, one, one + 1);
    return one[0];
  }
};

struct Counting : std::pmr::memory_resource {
  int given = 0, back = 0;
  FLICK_NXP void *do_allocate(std::size_t n, std::size_t) override {
    given++;
    return ::operator new(n);
  }
  FLICK_NXP void do_deallocate(void *p, std::size_t n, std::size_t) override {
    back++;
    ::operator delete(p, n);
  }
  FLICK_NXP bool do_is_equal(const memory_resource &other) const noexcept override {
    return this == &other;
  }
};

struct Comma : std::numpunct<char> {
  FLICK_NXP char do_decimal_point() const override { return ','; }
  FLICK_NXP char do_thousands_sep() const override { return '.'; }
  FLICK_NXP std::string do_grouping() const override { return "\3"; }
};

struct Category : std::error_category {
  const char *name() const noexcept override { return "ours"; }
  FLICK_NXP std::string message(int n) const override {
    return "about " + std::to_string(n) + " of " + name();
  }
};

struct Failure : std::exception {
  FLICK_NXP const char *what() const noexcept override { return "from the NxP"; }
};

FLICK_NXP static bool descending(int a, int b) { return a > b; }
FLICK_NXP static bool odd_below_9(int x) { return x % 2 && x < 9 && x > 1; }
FLICK_NXP static int plus(int a, int b) { return a + b; }

static int news, sum, once_count, stops;
static std::mutex mutex;
static std::once_flag once;

FLICK_NXP static void first_only() { once_count++; }
FLICK_NXP static void work(int n) {
  std::call_once(once, first_only);
  std::lock_guard<std::mutex> hold(mutex);
  sum += n;
}
FLICK_NXP static void no_memory() {
  news++;
  std::set_new_handler(nullptr);
}
FLICK_NXP static void quick() {
  std::printf("quick %d\n", news);
  std::fflush(stdout);
}
FLICK_NXP static void terminating() {
  try {
    throw;
  } catch (const std::exception &e) {
    std::printf("what: %s\n", e.what());
  }
  std::puts("terminating");
  std::quick_exit(5);
}
FLICK_NXP static std::function<int(int)> make_function(int by) {
  return [by](int x) { return x + by; };
}
FLICK_NXP static int through(const std::function<int(const std::function<int(int)> &)> &f) {
  return f([](int x) { return x * 2; });
}

FLICK_NXP static void threads() {
  std::vector<std::thread> all;
  for (int i = 1; i <= 4; i++)
    all.emplace_back(work, i);
  for (std::thread &t : all)
    t.join();
  std::stop_source source;
  std::stop_callback on_stop(source.get_token(), [] { stops++; });
  source.request_stop();
}

int main() {
  Shout shout;
  std::ostream out(&shout);
  out << "shouted " << 12 << std::flush;
  std::printf("%s -> %zu\n", shout.text.c_str(), shout.text.size());
  Digits digits;
  std::istream in(&digits);
  int a, b, c;
  in >> a >> b >> c;
  std::printf("read: %d %d %d\n", a, b, c);
  Counting counting;
  {
    std::pmr::vector<int> v(&counting);
    v.reserve(4);
    v.reserve(8);
  }
  std::printf("resource: %d given %d taken back\n", counting.given, counting.back);
  std::ostringstream number;
  number.imbue(std::locale(std::locale::classic(), new Comma));
  number << 1234.5;
  std::printf("facet: %s\n", number.str().c_str());
  Category category;
  std::printf("category: %s\n", std::error_code(7, category).message().c_str());

  std::vector<int> v = {3, 9, 1, 8, 5}, some;
  std::sort(v.begin(), v.end(), descending);
  std::copy_if(v.begin(), v.end(), std::back_inserter(some), odd_below_9);
  std::printf("sorted: %d %d %d %d %d | %d %d | %d\n", v[0], v[1], v[2], v[3], v[4], some[0],
              some[1], std::accumulate(v.begin(), v.end(), 0, plus));
  threads();
  std::printf("once: %d, threads %d, stopped %d\n", once_count, sum, stops);
  auto f = make_function(2);
  auto g = std::bind(f, std::placeholders::_1);
  std::printf("function: %d %d through %d\n", f(40), g(41),
              through([](const std::function<int(int)> &h) { return h(6); }));

  std::set_new_handler(no_memory);
  try {
    volatile std::size_t much = std::size_t(1) << 62;
    ::operator delete(::operator new(much));
  } catch (const std::bad_alloc &) {
    std::printf("new handler: %d\n", news);
  }
  std::at_quick_exit(quick);
  std::set_terminate(terminating);
  throw Failure();
}

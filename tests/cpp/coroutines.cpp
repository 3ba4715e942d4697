// A generator whose coroutine body stays on the host: it calls NxP functions, and NxP code resumes
// it and takes its values.
// CXXFLAGS: -std=c++20
// OUT: 88 1 6
#include <coroutine>
#include <cstdio>
#include <exception>
#include <flick.h>

class Generator {
public:
  struct promise_type {
    int value = 0;
    Generator get_return_object() {
      return Generator(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  Generator(const Generator &) = delete;
  Generator &operator=(const Generator &) = delete;
  FLICK_HOST ~Generator() { handle.destroy(); }
  FLICK_HOST bool next() {
    handle.resume();
    return !handle.done();
  }
  int value() const { return handle.promise().value; }

private:
  explicit Generator(std::coroutine_handle<promise_type> h) : handle(h) {}
  std::coroutine_handle<promise_type> handle;
};
FLICK_NXP static int step(int a, int b) { return a + b; }
static Generator fibonacci(int n) {
  int a = 0, b = 1;
  while (n--) {
    co_yield a;
    int t = step(a, b);
    a = b;
    b = t;
  }
}
FLICK_NXP static int drain(Generator &g) {
  int sum = 0;
  while (g.next())
    sum += g.value();
  return sum;
}

int main() {
  Generator g = fibonacci(10), h = fibonacci(5);
  g.next(), h.next(), h.next();
  int a = drain(g), b = h.value(), c = drain(h);
  std::printf("%d %d %d\n", a, b, c);
}

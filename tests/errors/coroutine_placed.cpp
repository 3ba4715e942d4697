// A coroutine marked for the NxP.
// CXXFLAGS: -std=c++20
// FAILS: compile FLK0212
// SAYS: count
#include <coroutine>
#include <flick.h>

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
FLICK_NXP Task count(int *n) { /* HERE */
  ++*n;
  co_await std::suspend_never();
  ++*n;
}

int main() {
  int n = 0;
  count(&n);
  return n != 2;
}

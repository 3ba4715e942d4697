// A coroutine that is marked.
// FAILS: compile FLK0212
// CFLAGS: -std=c++20
// SAYS: a coroutine in 'once(int&)'
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

FLICK_NXP Task once(int &n) { /* HERE */
  n = 1;
  co_return;
}

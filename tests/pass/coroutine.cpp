// Coroutines stay on the host: refused where they are placed by name, left where chance chose them.
// RUN: not %flickxx -std=c++20 -DMARKED -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %flickxx -std=c++20 -O2 -mllvm -flick-random=1:100 -c %s -o %t.o && %links %t.o
// RUN: %flickxx -std=c++20 -O0 -mllvm -flick-random=1:100 -c %s -o %t.o && %links %t.o
// RUN: %places %t.o | FileCheck %s --check-prefix=PLACES
#include <coroutine>
#include <flick.h>

struct Task {
  struct promise_type {
    int value = 0;
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_value(int v) { value = v; }
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};
#ifdef MARKED
FLICK_NXP
#endif
// CHECK: coroutine.cpp:[[@LINE+2]]:{{[0-9]+}}: error: {{.*}}[FLK0212] a coroutine in
// PLACES-DAG: _Z4workPi host refused:FLK0212 a coroutine
Task work(int *p) {
  co_await std::suspend_always{};
  co_return *p;
}
// PLACES-DAG: _Z3runv nxp random
int run() {
  int n = 4;
  Task t = work(&n);
  while (!t.handle.done())
    t.handle.resume();
  n = t.handle.promise().value;
  t.handle.destroy();
  return n;
}

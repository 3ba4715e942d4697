// backtrace() finds the frames of both sides: every return address that a function of the chain
// sees is in it, in order.
#include <cstdio>
#include <execinfo.h>
#include <flick.h>

static void *seen[8];
static int count;
static void here(void *address) { seen[count++] = address; }

__attribute__((noinline)) FLICK_HOST static int leaf(int x) {
  here(__builtin_return_address(0));
  void *frames[64];
  int n = backtrace(frames, 64), at = 0;
  for (int i = 0; i < count; i++) {
    while (at < n && frames[at] != seen[count - 1 - i])
      at++;
    std::printf("%d %s\n", i, at < n ? "found" : "missing");
  }
  return x;
}
__attribute__((noinline)) FLICK_NXP static int third(int x) {
  here(__builtin_return_address(0));
  return leaf(x) + 1;
}
__attribute__((noinline)) FLICK_NXP static int second(int x) {
  here(__builtin_return_address(0));
  return third(x) + 1;
}
__attribute__((noinline)) FLICK_HOST static int first(int x) {
  here(__builtin_return_address(0));
  return second(x) + 1;
}
__attribute__((noinline)) FLICK_NXP static int start(int x) { return first(x) + 1; }

int main() { std::printf("%d\n", start(1)); }

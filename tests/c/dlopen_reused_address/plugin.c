#include <flick.h>

// The address in `after` to which what it calls returns, if that is this.
FLICK_NXP __attribute__((noinline)) void *where(void) { return __builtin_return_address(0); }
FLICK_NXP __attribute__((noinline)) void *after(void *(*call)(void)) {
  void *at = call();
  __asm__ volatile("" ::: "memory");
  return at;
}

// An exception that nothing between the throw and an NxP function catches: the program's terminate
// handler runs and sees it; nothing has been unwound, also where a caller would have caught it.
// FAILS: run FLK0506
// EXIT: 7
// OUT: 3
// OUT: caught below
// OUT: terminate with out
// SAYS: 'placed(int)' (
// SAYS: has called 'host(int)'
// SAYS: keep 'placed(int)' on the host
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <flick.h>
#include <stdexcept>
#include <string>

struct Guard {
  ~Guard() { puts("unwound"); }
};

__attribute__((noinline)) FLICK_HOST int host(int x) {
  if (x < 3)
    return x;
  if (x == 3) {
    try {
      throw std::runtime_error("in");
    } catch (const std::runtime_error &) {
      puts("caught below");
    }
    return 0;
  }
  Guard guard;
  throw std::runtime_error("out");
}

__attribute__((noinline)) FLICK_NXP int placed(int x) {
  std::string text(x * 10, 'x');
  return host(x) + (text[5] == 'x'); /* HERE */
}

int main() {
  std::set_terminate([] {
    try {
      std::rethrow_exception(std::current_exception());
    } catch (const std::exception &e) {
      printf("terminate with %s\n", e.what());
    }
    fflush(stdout);
    _Exit(7);
  });
  printf("%d\n", placed(2));
  placed(3);
  try {
    placed(4);
  } catch (...) {
    puts("not caught natively");
  }
  return 0;
}

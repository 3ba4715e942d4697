// An exception must not leave a function that is `noexcept`; the program's own handler has the end.
// STATUS: 3
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

namespace {
[[gnu::noinline]] void fail(int number) {
  if (number)
    throw std::runtime_error("is not allowed");
}
[[gnu::noinline]] void quiet(int number) noexcept { fail(number); }
} // namespace

int main(int argc, char **) {
  std::set_terminate([] {
    try {
      std::rethrow_exception(std::current_exception());
    } catch (std::exception &error) {
      printf("terminated: it %s\n", error.what());
    }
    fflush(stdout);
    _Exit(3);
  });
  quiet(argc);
}

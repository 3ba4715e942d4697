// A program and a library with NxP code each, and one in C between them: types thrown in one are
// caught in the other, templates and base classes too.
// STEP: c++ -shared lib.cpp -o libexc.so
// STEP: cc -fexceptions -c middle.c -o middle.o
// STEP: link main.cpp middle.o -L. -lexc -Wl,-rpath,$ORIGIN
// SKIP-MODE: static a static program has no shared library
#include "error.h"
#include <cstdio>

static int cleanups;
FLICK_HOST extern "C" void c_cleanup(int *n) { cleanups += 10 + *n; }

FLICK_NXP static int program_throws(int what) {
  if (what == 1)
    throw Error(5);
  if (what == 2)
    throw Value<long>{6};
  return library_throws(what);
}
FLICK_NXP static int program_catches(int (*f)(int), int what) {
  try {
    return in_c(f, what);
  } catch (const Value<long> &v) {
    return 4000 + static_cast<int>(v.value);
  } catch (const std::exception &e) {
    return 3000 + dynamic_cast<const Error &>(e).code;
  }
}

int main() {
  for (int what = 0; what < 4; what++)
    for (int (*f)(int) : {program_throws, library_throws})
      try {
        std::printf("%d", library_catches(f, what));
        std::printf(" %d", program_catches(f, what));
        std::printf(" %d\n", in_c(library_throws, what));
      } catch (const char *text) {
        std::printf(" %s\n", text);
      } catch (const Value<long> &v) {
        std::printf(" value %ld\n", v.value);
      } catch (const Error &e) {
        std::printf(" error %d\n", e.code);
      }
  std::printf("cleanups %d\n", cleanups);
}

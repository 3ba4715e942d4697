// A library built with -fvisibility=hidden and -fvisibility-inlines-hidden: its placed functions
// have the names of the program's, and each keeps its own.
// SKIP-MODE: static a static program has no shared library
// CXXFLAGS: -fvisibility=hidden -fvisibility-inlines-hidden
// STEP: c++ -shared library.cpp part.cpp -o liblibrary.so
// STEP: link main.cpp -L. -llibrary -Wl,-rpath,$ORIGIN
// OUT: 6107 102 2
// OUT: 2 10
#include "library.h"
#include <cstdio>

FLICK_NXP int hidden(int x) { return x + 1; }
FLICK_NXP static int both(int x) { return hidden(x) * 1000 + library_run(x) + inlined(); }

int main() {
  int a = both(5), b = library_run(1), c = hidden(1);
  std::printf("%d %d %d\n", a, b, c);
  std::printf("%d %d\n", inlined(), library_inlined());
}

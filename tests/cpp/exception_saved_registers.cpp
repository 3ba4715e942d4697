// Exceptions through frames that save registers in many different ways: each level keeps its own
// number of integers and floating-point numbers in registers over the call that throws, every other
// one catches, finds them as they were, and throws again.
// SKIP-VALGRIND: memcheck loses a word below the frame that catches, here a return address
// OUT: 24 levels
// OUT: caught 12 times, 0 values lost
#include <cstdio>
#include <flick.h>

static volatile long ints[12];
static volatile double floats[12];
static int caught, lost;

using Level = void (*)(int);
extern const Level levels[];

// Loads that are volatile are made before the call, so that the values must live over it.
template <int I, int F> FLICK_NXP static void below(int depth) {
  long i[I + 1];
  double f[F + 1];
  for (int n = 0; n <= I; n++)
    i[n] = ints[n];
  for (int n = 0; n <= F; n++)
    f[n] = floats[n];
  try {
    levels[depth + 1](depth + 1);
  } catch (int &level) {
    caught++;
    for (int n = 0; n <= I; n++)
      lost += i[n] != 1000 + n;
    for (int n = 0; n <= F; n++)
      lost += f[n] != 0.5 + n;
    level++;
    throw;
  }
}

// The same without a handler: what the caller keeps is in this frame.
template <int I, int F> FLICK_NXP static void through(int depth) {
  long i[I + 1];
  double f[F + 1];
  for (int n = 0; n <= I; n++)
    i[n] = ints[n];
  for (int n = 0; n <= F; n++)
    f[n] = floats[n];
  levels[depth + 1](depth + 1);
  for (int n = 0; n <= I; n++)
    lost += i[n] != 0;
  for (int n = 0; n <= F; n++)
    lost += f[n] != 0;
}

FLICK_NXP static void bottom(int depth) { throw depth; }

extern const Level levels[] = {
    below<0, 0>,   through<0, 1>, below<1, 3>,    through<2, 2>, below<2, 0>,
    through<3, 5>, below<4, 1>,   through<4, 4>,  below<5, 7>,   through<6, 0>,
    below<6, 2>,   through<7, 6>, below<8, 3>,    through<8, 8>, below<9, 1>,
    through<9, 4>, below<10, 10>, through<11, 0>, below<11, 5>,  through<3, 9>,
    below<7, 2>,   through<5, 0>, below<0, 11>,   through<1, 8>, bottom};

int main() {
  for (int n = 0; n < 12; n++) {
    ints[n] = 1000 + n;
    floats[n] = 0.5 + n;
  }
  try {
    levels[0](0);
  } catch (int level) {
    std::printf("%d levels\n", level - caught);
  }
  std::printf("caught %d times, %d values lost\n", caught, lost);
}

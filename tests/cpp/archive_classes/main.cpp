// A static archive of C++ code with placed members: classes, a template's instantiations in several
// members, a registration by a static constructor in a pulled member; one member is not pulled.
// STEP: c++ -c shapes.cpp -o shapes.o
// STEP: c++ -c registry.cpp -o registry.o
// STEP: c++ -c unused.cpp -o unused.o
// STEP: ar rcs libshapes.a shapes.o registry.o unused.o
// STEP: link main.cpp libshapes.a
// OUT: 2 1039 5
#include "shapes.h"
#include <cstdio>

struct Own : Shape {
  FLICK_NXP int area() const override { return 1000 + clamp<int>(50, 10); }
};

FLICK_NXP static int total() {
  Own own;
  int sum = own.area();
  for (int i = 0; i < registered(); i++)
    sum += shape(i)->area();
  return sum;
}

int main() { std::printf("%d %d %ld\n", registered(), total(), clamp<long>(5, 10)); }

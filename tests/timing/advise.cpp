// The same in C++: a static function, a virtual one, a template; the names are the linker's.
#include <cstdio>
#include <flick.h>
#include <string>
#include <vector>

#define APART __attribute__((noinline))

struct Shape {
  Shape *next = nullptr;
  long side = 0;
  APART virtual long area(long scale) const = 0;
  virtual ~Shape() = default;
};
struct Square : Shape {
  APART long area(long scale) const override { return side * scale + 1; }
};
struct Circle : Shape {
  APART long area(long scale) const override { return side + scale * 3; }
};

template <class T> APART static long total(const T *first, long scale) {
  long sum = 0;
  for (; first; first = first->next)
    sum += first->area(scale + sum % 2);
  return sum;
}

APART static FLICK_NXP long poke(Shape &shape) { return ++shape.side; }

template <class T> static T *placed(long count) {
  return new (flick_alloc(FLICK_MEM_NXP, static_cast<std::size_t>(count) * sizeof(T)))
      T[static_cast<std::size_t>(count)];
}

int main() {
  const long count = 3000;
  Square *squares = placed<Square>(count);
  Circle *circles = placed<Circle>(count);
  Shape *first = nullptr;
  for (long i = 0; i < count; i++) {
    Shape *shape = i % 2 ? static_cast<Shape *>(&squares[i]) : &circles[i];
    shape->side = i;
    shape->next = first;
    first = shape;
  }
  long sum = 0;
  for (long scale = 0; scale < 20; scale++)
    sum += total(first, scale);
  for (long i = 0; i < 1000; i++)
    sum += poke(circles[i]);
  try {
    if (sum)
      throw std::string("thrown");
  } catch (const std::string &what) {
    sum += static_cast<long>(what.size());
  }
  std::printf("%ld\n", sum);
}

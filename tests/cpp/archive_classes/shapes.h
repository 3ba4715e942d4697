#ifndef SHAPES_H
#define SHAPES_H
#include <flick.h>

struct Shape {
  Shape();
  virtual ~Shape();
  virtual int area() const = 0;
};
int registered();
const Shape *shape(int i);
void add(const Shape *s);
template <class T> FLICK_NXP T clamp(T x, T most) { return x < most ? x : most; }
#endif

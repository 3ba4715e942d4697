// Objects with tables of functions of both sides, called from both sides: the shapes of a C
// program that writes virtual functions by hand.
// OUT: 56
// OUT: rectangle 2
// OUT: square 36
// OUT: rectangle 18
#include <flick.h>
#include <stdio.h>

struct shape;
struct operations {
  double (*area)(const struct shape *);
  void (*scale)(struct shape *, double);
  const char *name;
};
struct shape {
  const struct operations *ops;
  double a, b;
};

FLICK_NXP static double rectangle_area(const struct shape *s) { return s->a * s->b; }
FLICK_HOST static void rectangle_scale(struct shape *s, double k) { s->a *= k, s->b *= k; }
FLICK_HOST static double square_area(const struct shape *s) { return s->a * s->a; }
FLICK_NXP static void square_scale(struct shape *s, double k) { s->a *= k; }

static const struct operations rectangle = {rectangle_area, rectangle_scale, "rectangle"};
static const struct operations square = {square_area, square_scale, "square"};

FLICK_NXP static double total(struct shape *shapes, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    shapes[i].ops->scale(&shapes[i], i + 1);
    sum += shapes[i].ops->area(&shapes[i]);
  }
  return sum;
}

int main(void) {
  struct shape shapes[] = {{&rectangle, 1, 2}, {&square, 3, 0}, {&rectangle, 0.5, 4}};
  printf("%g\n", total(shapes, 3));
  for (int i = 0; i < 3; i++)
    printf("%s %g\n", shapes[i].ops->name, shapes[i].ops->area(&shapes[i]));
}

/* Calls through pointers: a table of handlers that is walked in an order that nothing predicts, and
 * objects with methods. */
#include "kernel.h"

typedef uint64_t handler(uint64_t value);
static uint64_t add(uint64_t value) { return value + 0x9e3779b9u; }
static uint64_t flip(uint64_t value) { return ~value; }
static uint64_t turn(uint64_t value) { return value << 13 | value >> 51; }
static uint64_t triple(uint64_t value) { return value * 3; }
static uint64_t drop(uint64_t value) { return value ^ value >> 7; }
static uint64_t swap(uint64_t value) { return value << 32 | value >> 32; }
static uint64_t less(uint64_t value) { return value - (value >> 3); }
static uint64_t gray(uint64_t value) { return value ^ value >> 1; }
static handler *const handlers[] = {add, flip, turn, triple, drop, swap, less, gray};

struct shape;
typedef struct {
  uint64_t (*area)(const struct shape *);
  void (*grow)(struct shape *, uint64_t);
} methods;
typedef struct shape {
  const methods *vtable;
  uint64_t width, height;
} shape;

static uint64_t box_area(const shape *s) { return s->width * s->height; }
static void box_grow(shape *s, uint64_t by) { s->width += by; }
static uint64_t wedge_area(const shape *s) { return s->width * s->height / 2; }
static void wedge_grow(shape *s, uint64_t by) { s->height += by; }
static const methods box = {box_area, box_grow}, wedge = {wedge_area, wedge_grow};

uint64_t indirect(uint64_t work) {
  enum { SHAPES = 64 };
  shape shapes[SHAPES];
  uint64_t random = 2, value = 1;
  for (size_t i = 0; i < SHAPES; i++)
    shapes[i] = (shape){next_random(&random) & 1 ? &box : &wedge, i + 1, i + 2};
  for (uint64_t i = 0; i < work; i++) {
    value = handlers[next_random(&random) >> 61](value);
    shape *s = &shapes[i % SHAPES];
    s->vtable->grow(s, value & 3);
    value += s->vtable->area(s);
  }
  return value;
}

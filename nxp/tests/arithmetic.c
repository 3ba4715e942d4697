/* Prints results of the 128-bit and floating-point builtins over edge and random operands; the
 * compiler calls them for the operators below. Compared with the host's output. */
#include "bare.h"
#include "modes.h"

typedef __int128 i128;
typedef unsigned __int128 u128;

/* No operator of C stands for it. */
i128 __divmodti4(i128, i128, i128 *);

static void show(u128 value) {
  char text[33];
  for (int i = 31; i >= 0; i--, value >>= 4)
    text[i] = "0123456789abcdef"[(unsigned)value & 15];
  text[32] = '\n';
  print(text, 33);
}
static void show_double(double x) {
  union {
    double value;
    uint64_t bits;
  } u = {x};
  show(u.bits);
}

static u128 operand(unsigned i) {
  static const uint64_t edges[] = {0,
                                   1,
                                   2,
                                   3,
                                   10,
                                   0x7fffffff,
                                   0xffffffff,
                                   0x100000000,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffffff};
  enum { N = sizeof edges / sizeof *edges };
  if (i < N * N)
    return (u128)edges[i / N] << 64 | edges[i % N];
  /* Random, of random length. */
  u128 r = (u128)random64() << 64 | random64();
  return r >> random64() % 128;
}

static void integers(u128 a, u128 b) {
  volatile i128 x = (i128)a, y = (i128)b;
  show(a * b);
  if (b != 0) {
    show(a / b);
    show(a % b);
    if (!(b == ~(u128)0 && a == (u128)1 << 127)) {
      show((u128)(x / y));
      show((u128)(x % y));
      i128 rest, quotient = __divmodti4(x, y, &rest);
      show((u128)quotient ^ (u128)rest << 1);
    }
  }
  unsigned n = (unsigned)b % 128;
  show(a << n);
  show(a >> n);
  show((u128)(x >> n));
  i128 product;
  int over = __builtin_mul_overflow(x, y, &product);
  show((u128)product);
  show((u128)over);
}

static void floats(u128 a) {
  volatile i128 x = (i128)a;
  volatile u128 u = a;
  show_double((double)u);
  show_double((double)x);
  show_double((float)u);
  show_double((float)x);
  volatile double d = (double)x, wide = (double)(u >> 1);
  volatile float f = (float)(x >> 1);
  if (d < 0x1p127 && d >= -0x1p127)
    show((u128)(i128)d);
  show((u128)wide);
  show((u128)(i128)(wide / 3));
  if (f < 0x1p127f && f >= -0x1p127f)
    show((u128)(i128)f);
  volatile int exponent = (int)(a % 40) - 20;
  show_double(__builtin_powi(d / 0x1p64 + 1.25, exponent));
  show_double(__builtin_powif(f / 0x1p64f + 1.25f, exponent));
}

/* Numbers about the range of half precision, ties and specials among them. */
static void halves(unsigned i) {
  static const uint64_t ends[] = {0, 1ull << 63, 0x7ff0000000000000, 0xfff0000000000000, 1};
  union {
    uint64_t bits;
    double value;
  } u = {ends[i % 5]};
  if (i >= 5) {
    uint64_t r = random64();
    u.bits = r >> 12 | (1023 - 28 + r % 48) << 52 | r << 63;
    if (i % 3 == 0)
      u.bits &= ~0ull << (52 - 5 - i % 8);
  }
  union {
    _Float16 value;
    uint16_t bits;
  } wide = {(_Float16)u.value}, narrow = {(_Float16)(float)u.value};
  show(wide.bits);
  show(narrow.bits);
  show_double(wide.value);
}

/* Which flags a NaN raises on its way to and from half precision. */
static void signalling(void) {
  static const uint64_t patterns[] = {0x7ff8000000000000, 0x7ff0040000000000, 0xfff4000000000000};
  for (unsigned i = 0; i < 3; i++) {
    union {
      uint64_t bits;
      double value;
    } d = {patterns[i]};
    union {
      uint32_t bits;
      float value;
    } f = {(uint32_t)(patterns[i] >> 32 & 0x80000000) | 0x7f800000 |
           (uint32_t)(patterns[i] >> 29 & 0x7fffff)};
    union {
      uint16_t bits;
      _Float16 value;
    } h = {(uint16_t)(patterns[i] >> 48 & 0x8000) | 0x7c00 | (uint16_t)(patterns[i] >> 42 & 0x3ff)};
    volatile double from = d.value;
    volatile float from_single = f.value;
    volatile _Float16 narrow = h.value;
    clear_flags();
    volatile float wide = (float)narrow;
    show(raised_flags());
    show(wide != wide);
    clear_flags();
    narrow = (_Float16)from;
    show(raised_flags());
    clear_flags();
    narrow = (_Float16)from_single;
    show(raised_flags());
  }
}

int main(void) {
  signalling();
  for (unsigned i = 0; i < 11 * 11; i++)
    for (unsigned j = 0; j < 11 * 11; j += 1 + i % 7)
      integers(operand(i), operand(j));
  for (unsigned i = 0; i < 2000; i++)
    integers(operand(~0u), operand(~0u));
  for (unsigned mode = 0; mode < 4; mode++)
    for (unsigned i = 0; i < 500; i++) {
      u128 a = operand(i);
      set_rounding(mode);
      floats(a);
      halves(i);
      set_rounding(0);
    }
  return 0;
}

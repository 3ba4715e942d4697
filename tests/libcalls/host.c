// Runs the cells and prints what they compute; the same code for both compilers.
#include "record.h"

#include <fenv.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

enum { INPUTS = 12 };
/* In variables of another unit, so that no compiler computes with them. */
const double inputs[INPUTS] = {0.5,       -0.5,  1.5,    2.5,         -3.75,     0.1,
                               1000000.4, 1e-30, -2.1e9, 1234567.875, -99999.99, 2.0e9};
const double specials[INPUTS] = {0.0,
                                 -0.0,
                                 1.0,
                                 -1.0,
                                 2.5,
                                 0.3,
                                 1e300,
                                 -1e-310,
                                 __builtin_inf(),
                                 -__builtin_inf(),
                                 __builtin_nan(""),
                                 7.75};
const unsigned long integers[INPUTS] = {0,
                                        1,
                                        0xffffffffffffffff,
                                        0x7fffffffffffffff,
                                        0x8000000000000000,
                                        0xfedcba9876543210,
                                        0x00000000ffffffff,
                                        0x80000000,
                                        12345678901234567,
                                        0x5555555555555555,
                                        0xffffffff00000001,
                                        1000000007};
/* Each with 16 bytes to read. */
static const char texts[INPUTS][16] = {
    "zero",  "one",   "two", "three",           "four", "five", "six",
    "seven", "eight", "",    "fifteen letters", "ten"};
const char *const strings[INPUTS] = {texts[0], texts[1], texts[2], texts[3], texts[4],  texts[5],
                                     texts[6], texts[7], texts[8], texts[9], texts[10], texts[11]};
const char *const numbers[INPUTS] = {"0",    "-1",    "17",   "0x1f", "3.25",   "1e3",
                                     "-0.0", "99999", "+12x", "077",  "  42  ", "x"};
const wchar_t wide[] = L"wide text";

int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int forward(const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = vprintf(format, list);
  va_end(list);
  return n;
}

void record_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  printf(" d%016lx", bits);
}
static void record_narrow(char kind, float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  printf(" %c%08x", kind, bits);
}
void record_float(float x) { record_narrow('f', x); }
void record_half(float x) { record_narrow('h', x); }
void record_long(long x) { printf(" %lx", x); }
void record_wide(unsigned __int128 x) { printf(" %lx:%lx", (long)(x >> 64), (long)x); }
void record_string(const char *text) { printf(" \"%s\"", text); }

/* libgcc 12 lacks them. To nearest, ties to even; a float that is rounded to odd is rounded once.
 */
__bf16 __truncsfbf2(float);
__bf16 __truncdfbf2(double);
__bf16 __truncsfbf2(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  uint16_t upper = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  __bf16 out;
  memcpy(&out, &upper, sizeof out);
  return out;
}
__bf16 __truncdfbf2(double x) {
  float near = (float)x;
  uint32_t bits;
  memcpy(&bits, &near, sizeof bits);
  if ((double)near != x && bits % 2 == 0)
    bits += __builtin_fabs((double)near) > __builtin_fabs(x) ? -1u : 1u;
  memcpy(&near, &bits, sizeof near);
  return __truncsfbf2(near);
}

extern const struct cell cells[];

int main(void) {
  for (const struct cell *at = cells; at->name; at++) {
    printf("%s.%s", at->name, at->kind);
    fflush(stdout);
#ifdef STRICT
    /* In every mode; what has been computed is exact up to the last digit and the flags. */
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (unsigned i = 0; i < 4; i++) {
      feclearexcept(FE_ALL_EXCEPT);
      fesetround(modes[i]);
      at->run();
      fesetround(FE_TONEAREST);
    }
#else
    at->run();
#endif
    printf("\n");
  }
}

// Loads and stores of every size at every alignment, also across two pages, as x86-64 allows them.
// OUT: 0 wrong
#include <flick.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { Page = 4096, Span = 32 };
static _Alignas(Page) unsigned char memory[2 * Page];

#define ACCESS(NAME, TYPE)                                                                         \
  struct __attribute__((packed)) Packed##NAME {                                                    \
    TYPE value;                                                                                    \
  };                                                                                               \
  FLICK_NXP __attribute__((noinline)) static TYPE load##NAME(const unsigned char *at) {            \
    return ((const struct Packed##NAME *)at)->value;                                               \
  }                                                                                                \
  FLICK_NXP __attribute__((noinline)) static void store##NAME(unsigned char *at, TYPE value) {     \
    ((struct Packed##NAME *)at)->value = value;                                                    \
  }                                                                                                \
  static int wrong##NAME(void) {                                                                   \
    int wrong = 0;                                                                                 \
    for (unsigned char *at = memory + Page - Span; at < memory + Page + Span; at++) {              \
      TYPE want, was;                                                                              \
      memcpy(&want, at, sizeof want);                                                              \
      was = load##NAME(at);                                                                        \
      wrong += memcmp(&was, &want, sizeof want) != 0;                                              \
      unsigned char copy[sizeof memory];                                                           \
      memcpy(copy, memory, sizeof memory);                                                         \
      was = (TYPE)(want + 1);                                                                      \
      memcpy(copy + (at - memory), &was, sizeof was);                                              \
      store##NAME(at, was);                                                                        \
      wrong += memcmp(copy, memory, sizeof memory) != 0;                                           \
    }                                                                                              \
    return wrong;                                                                                  \
  }
ACCESS(16, uint16_t)
ACCESS(32, uint32_t)
ACCESS(64, uint64_t)
ACCESS(Signed, int32_t)
ACCESS(Float, float)
ACCESS(Double, double)

int main(void) {
  // Bytes whose floating-point values are ordinary numbers.
  for (int i = 0; i < 2 * Page; i++)
    memory[i] = (unsigned char)(0x40 + i % 7);
  printf("%d wrong\n",
         wrong16() + wrong32() + wrong64() + wrongSigned() + wrongFloat() + wrongDouble());
}

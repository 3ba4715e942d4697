// constexpr functions and objects used at compile time, and the same functions at run time on the
// NxP; tables made by the compiler.
// CXXFLAGS: -std=c++17
// OUT: cbf43926 1
#include <cstdio>
#include <flick.h>

FLICK_NXP constexpr unsigned crc(unsigned char byte) {
  unsigned c = byte;
  for (int i = 0; i < 8; i++)
    c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
  return c;
}
struct Table {
  unsigned entries[256];
  constexpr Table() : entries() {
    for (unsigned i = 0; i < 256; i++)
      entries[i] = crc(static_cast<unsigned char>(i));
  }
};
static constexpr Table table;
FLICK_NXP static unsigned checksum(const char *s) {
  unsigned c = ~0u;
  for (; *s; s++)
    c = c >> 8 ^ table.entries[(c ^ static_cast<unsigned char>(*s)) & 255];
  return ~c;
}
FLICK_NXP static unsigned slowly(const char *s) {
  unsigned c = ~0u;
  for (; *s; s++)
    c = c >> 8 ^ crc(static_cast<unsigned char>(c ^ static_cast<unsigned char>(*s)));
  return ~c;
}

int main() {
  static_assert(table.entries[1] == 0x77073096u);
  const char *text = "123456789";
  std::printf("%08x %d\n", checksum(text), checksum(text) == slowly(text));
}

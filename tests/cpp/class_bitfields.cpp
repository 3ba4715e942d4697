// Bit-fields in classes, signed, unsigned, bool and enum, with default initialisers, written on one
// side and read on the other, also in registers by value.
// OUT: 20407 821621
#include <cstdio>
#include <flick.h>

enum class Mode : unsigned char { off, slow, fast };
class Flags {
  unsigned low : 3;
  int middle : 7;
  bool on : 1;
  Mode mode : 2;
  unsigned long wide : 40;

public:
  FLICK_NXP Flags(unsigned l, int m, Mode k) : low(l), middle(m), on(l > 2), mode(k), wide(0) {}
  FLICK_HOST void set(unsigned long w) { wide = w; }
  FLICK_NXP void step() {
    low++;
    middle -= 3;
    on = !on;
    wide += 1UL << 33;
  }
  FLICK_NXP long code() const {
    return low + middle * 10L + on * 1000 + static_cast<int>(mode) * 10000 +
           static_cast<long>(wide >> 33) * 100000;
  }
};
FLICK_NXP static Flags changed(Flags f) {
  f.step();
  f.set(7UL << 33);
  f.step();
  return f;
}

int main() {
  Flags f(7, -60, Mode::fast);
  Flags g = changed(f);
  std::printf("%ld %ld\n", f.code(), g.code());
}

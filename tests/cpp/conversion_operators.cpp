// Conversions by constructor and by operator, explicit and implicit, where the conversion runs on
// the other side than its use.
// OUT: 523 20 3 0
#include <cstdio>
#include <flick.h>

struct Celsius;
struct Fahrenheit {
  double degrees;
  FLICK_NXP explicit Fahrenheit(double d) : degrees(d) {}
  FLICK_HOST operator Celsius() const;
};
struct Celsius {
  double degrees;
  FLICK_HOST Celsius(double d) : degrees(d) {}
  FLICK_NXP operator double() const { return degrees; }
  FLICK_NXP explicit operator bool() const { return degrees > 0; }
  FLICK_NXP explicit operator Fahrenheit() const { return Fahrenheit(degrees * 9 / 5 + 32); }
};
Fahrenheit::operator Celsius() const { return (degrees - 32) * 5 / 9; }

FLICK_NXP static double nxp_takes(Celsius c) { return c * 2; }
FLICK_HOST static double host_takes(Celsius c) { return c * 3; }
FLICK_NXP static double on_nxp() {
  Fahrenheit f(212);
  double r = host_takes(f) + nxp_takes(5.5);
  Celsius c = f;
  if (c)
    r += static_cast<Fahrenheit>(c).degrees;
  return r;
}

int main() {
  double a = on_nxp(), b = nxp_takes(Fahrenheit(50)), c = host_takes(1.0);
  std::printf("%g %g %g %d\n", a, b, c, Celsius(-3) ? 1 : 0);
}

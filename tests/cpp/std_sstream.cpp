// String streams and formatting in NxP code.
// OUT:   1|1.00|1   |
// OUT:   2|0.50|4   |
// OUT:   3|0.33|9   |
// OUT:   4|0.25|16  |
// OUT: 321
#include <cstdio>
#include <flick.h>
#include <iomanip>
#include <sstream>

FLICK_NXP static std::string table(int rows) {
  std::ostringstream out;
  for (int i = 1; i <= rows; i++)
    out << std::setw(3) << i << '|' << std::fixed << std::setprecision(2) << 1.0 / i << '|'
        << std::left << std::setw(4) << i * i << std::right << "|\n";
  return out.str();
}
FLICK_NXP static long sum(const std::string &text) {
  std::istringstream in(text);
  long s = 0, x;
  while (in >> x)
    s += x;
  return s;
}

int main() { std::printf("%s%ld\n", table(4).c_str(), sum("1 20 300 x 4")); }

// Streams on both sides: cout from NxP code in order with the host's, cin, operators of the
// program's own, manipulators.
// STDIN: 12 words 3.5
// STDIN: a whole line
// OUT: nxp 7 2.5 ff.....7
// OUT: words 42 [a whole line]
// OUT: (1, -2)
// OUT: nxp 8 2.5 ff.....8
// OUT: 0
#include <flick.h>
#include <iomanip>
#include <iostream>
#include <string>

struct Point {
  int x, y;
};
FLICK_NXP static std::ostream &operator<<(std::ostream &out, const Point &p) {
  return out << '(' << p.x << ", " << p.y << ')';
}
FLICK_HOST static std::istream &operator>>(std::istream &in, Point &p) {
  char comma;
  return in >> p.x >> comma >> p.y;
}
FLICK_NXP static void print(int n) {
  std::cout << "nxp " << n << ' ' << 2.5 << ' ' << std::hex << 255 << std::dec << std::setw(6)
            << std::setfill('.') << n << std::endl;
}
FLICK_NXP static double read_on_nxp(std::string &word) {
  int n = 0;
  double d = 0;
  std::cin >> n >> word >> d;
  return n * d;
}

int main() {
  std::string word, line;
  double d = read_on_nxp(word);
  std::cin.ignore();
  std::getline(std::cin, line);
  print(7);
  std::cout << word << " " << d << " [" << line << "]\n" << Point{1, -2} << std::endl;
  print(8);
  Point p{0, 0};
  std::cout << static_cast<bool>(std::cin >> p) << '\n';
}

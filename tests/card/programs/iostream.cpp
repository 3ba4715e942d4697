// Streams of C++: formats, text streams, files, input, errors, and stdio beside them.
// ARGS: 3
// INPUT: 12 words 2.5\nthe rest of it\n7 8 9
// FILE: numbers.txt=10 20 30\nlast line
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <locale>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {
struct Point {
  int x, y;
};
std::ostream &operator<<(std::ostream &stream, const Point &point) {
  return stream << '(' << point.x << ", " << point.y << ')';
}
std::istream &operator>>(std::istream &stream, Point &point) {
  char mark;
  return stream >> mark >> point.x >> mark >> point.y >> mark;
}

struct Early {
  Early() { std::cout << "before main" << std::endl; }
  ~Early() { std::cout << "after main\n"; }
} early;
} // namespace

int main(int argc, char **argv) {
  std::cout << argc << ' ' << argv[1] << ' ' << true << ' ' << std::boolalpha << true << '\n';
  std::cout << std::hex << std::showbase << 255 << std::dec << ' ' << std::setw(8)
            << std::setfill('.') << 42 << ' ' << std::left << std::setw(6) << "ab" << "|\n"
            << std::setfill(' ') << std::right;
  std::cout << 3.14159265 << ' ' << std::fixed << std::setprecision(2) << 2.0 / 3 << ' '
            << std::scientific << 12345.678 << ' ' << std::defaultfloat << 1e-7 << ' ' << 1e100
            << '\n';
  std::cout << std::setprecision(15) << 0.1L << ' ' << -0.0 << ' ' << 1 / 0.0 << '\n';
  printf("stdio between\n");
  std::cout << Point{1, -2} << std::endl;

  int number;
  std::string word, line;
  double real;
  std::cin >> number >> word >> real;
  std::getline(std::cin >> std::ws, line);
  std::cout << number << ' ' << word << ' ' << real << " [" << line << "]\n";
  std::vector<int> numbers{std::istream_iterator<int>(std::cin), {}};
  std::cout << std::accumulate(numbers.begin(), numbers.end(), 0) << ' ' << std::cin.eof() << '\n';

  std::istringstream input("(3,4) (5,x");
  Point point{};
  while (input >> point)
    std::cout << point << ' ';
  std::cout << input.fail() << '\n';
  std::ostringstream output;
  output << std::setw(5) << 1 << std::oct << 8;
  std::stringstream both;
  both << "a b c";
  for (std::string part; both >> part;)
    output << '<' << part << '>';
  std::cout << output.str() << '\n';

  std::ifstream file("numbers.txt");
  int sum = 0;
  for (int n; file >> n;)
    sum += n;
  file.clear();
  std::getline(file, line);
  std::cout << sum << ' ' << line << ' ' << file.eof() << '\n';
  {
    std::ofstream made("made.txt");
    made << "one\ntwo\n" << 3 << '\n';
  }
  std::fstream again("made.txt", std::ios::in | std::ios::out);
  again.seekp(4);
  again << "TWO";
  again.seekg(0);
  std::cout << again.rdbuf();
  std::ofstream("made.txt", std::ios::app) << "four";
  std::ifstream whole("made.txt", std::ios::binary | std::ios::ate);
  std::cout << whole.tellg() << '\n';
  std::ifstream none("none.txt");
  std::cout << none.is_open() << '\n';
  try {
    none.exceptions(std::ios::failbit);
  } catch (const std::ios_base::failure &error) {
    std::cout << "failure\n";
  }
  try {
    std::locale named("xx_YY");
  } catch (std::runtime_error &error) {
    std::cout << "no such locale\n";
  }
  std::tm epoch{};
  epoch.tm_year = 70, epoch.tm_mday = 1, epoch.tm_wday = 4;
  std::cout << std::put_time(&epoch, "%a %Y-%m-%d %H:%M") << '\n';
  std::wcout << L"wide " << 12 << L' ' << std::to_wstring(-3) << std::endl;
  std::wstringstream wide(L"1.5 x");
  std::wstring text;
  wide >> real >> text;
  std::cout << real << ' ' << text.size() << '\n';
  std::cerr << "to cerr\n";
  std::clog << "to clog" << std::endl;
  return 0;
}

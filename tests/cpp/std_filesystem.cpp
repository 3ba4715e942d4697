// std::filesystem and file streams: made on one side, read and removed on the other.
// CXXFLAGS: -std=c++17
// OUT: 11 second line b.tar.gz 3
#include <cstdio>
#include <filesystem>
#include <flick.h>
#include <fstream>
#include <string>

namespace fs = std::filesystem;
FLICK_NXP static void create(const fs::path &dir) {
  fs::create_directories(dir / "inner");
  std::ofstream(dir / "inner" / "file.txt") << "first line\nsecond line\n";
}
FLICK_NXP static int entries(const fs::path &dir) {
  int n = 0;
  for (const auto &e : fs::recursive_directory_iterator(dir))
    n += e.is_regular_file() ? 10 : 1;
  return n;
}
FLICK_HOST static std::string second_line(const fs::path &file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  std::getline(in, line);
  return line;
}
FLICK_NXP static std::string name_of(const fs::path &p) {
  return p.stem().string() + p.extension().string();
}

int main() {
  const fs::path dir = "made_here";
  create(dir);
  std::printf("%d %s %s", entries(dir), second_line(dir / "inner/file.txt").c_str(),
              name_of("a/b.tar.gz").c_str());
  std::printf(" %d\n", static_cast<int>(fs::remove_all(dir)));
}

// Files and folders by the library of C++.
// NEEDS: more memory than 2 MiB
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <string>

namespace fs = std::filesystem;

int main() {
  std::cout << fs::create_directories("place/deep") << fs::create_directory("place") << '\n';
  std::ofstream("place/deep/one.txt") << "hello";
  std::cout << fs::exists("place/deep/one.txt") << fs::is_directory("place/deep") << ' '
            << fs::file_size("place/deep/one.txt") << '\n';
  fs::copy_file("place/deep/one.txt", "place/two.txt");
  fs::rename("place/deep/one.txt", "place/deep/three.txt");
  std::set<std::string> names;
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator("place"))
    names.insert(entry.path().string() + (entry.is_regular_file() ? "" : "/"));
  for (const std::string &name : names)
    std::cout << name << ' ';
  std::string line;
  std::getline(std::ifstream("place/two.txt"), line);
  std::cout << line << '\n' << fs::path("place/two.txt").stem() << '\n';
  fs::path before = fs::current_path();
  fs::current_path("place/deep/..");
  std::cout << fs::current_path().filename() << fs::exists("../place/two.txt")
            << fs::exists("place") << '\n';
  fs::current_path(before);
  std::error_code error;
  std::cout << fs::remove("place", error) << ' ' << (error == std::errc::directory_not_empty) << ' '
            << fs::remove_all("place") << fs::exists("place") << '\n';
  try {
    std::cout << fs::file_size("none");
  } catch (const fs::filesystem_error &failure) {
    std::cout << failure.path1() << ' ' << failure.code().message() << '\n';
  }
  fs::resize_file("none", 3, error);
  std::cout << (error ? "not resized\n" : "resized\n");
}

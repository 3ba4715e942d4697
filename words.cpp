#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

static void fail() { throw std::runtime_error("of a thread"); }

int main() {
  std::map<std::string, int> words;
  for (std::string word; std::cin >> word;)
    words[word]++;
  for (const auto &[word, count] : words)
    std::cout << word << ' ' << count << '\n';
  std::thread([] {
    try {
      fail();
    } catch (const std::exception &error) {
      std::cout << "caught: " << error.what() << '\n';
    }
  }).join();
}

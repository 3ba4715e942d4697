// The library of C++: containers, algorithms, strings, functions, optional values, numbers.
// NEEDS: 2 MiB of memory are too few
#include <algorithm>
#include <any>
#include <array>
#include <bitset>
#include <charconv>
#include <complex>
#include <cstdio>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <ranges>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {
void sequences() {
  std::vector<int> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::mt19937 random(42);
  std::shuffle(numbers.begin(), numbers.end(), random);
  printf("shuffled: %d %d %d\n", numbers[0], numbers[1], numbers[2]);
  std::sort(numbers.begin(), numbers.end(), std::greater<>());
  printf("sorted: %d %d\n", numbers.front(), numbers.back());
  printf("sum %ld\n", std::accumulate(numbers.begin(), numbers.end(), 0l));
  auto odd = std::partition(numbers.begin(), numbers.end(), [](int n) { return n % 2; });
  printf("odd: %td, median %d\n", odd - numbers.begin(), [&] {
    std::nth_element(numbers.begin(), numbers.begin() + 500, numbers.end());
    return numbers[500];
  }());
  std::deque<std::string> deque;
  for (int n = 0; n < 5; n++)
    n % 2 ? deque.push_back(std::to_string(n)) : deque.push_front(std::to_string(n));
  std::list<std::string> list(deque.begin(), deque.end());
  list.reverse();
  for (const std::string &text : list)
    printf("%s ", text.c_str());
  std::priority_queue<int> heap(numbers.begin(), numbers.end());
  printf("top %d\n", heap.top());
  std::array<int, 4> array{3, 1, 2, 0};
  std::sort(array.begin(), array.end());
  for (int n : std::span(array).subspan(1))
    printf("%d ", n);
  for (int n : array | std::views::filter([](int n) { return n > 1; }) |
                   std::views::transform([](int n) { return n * n; }))
    printf("%d ", n);
  printf("%s\n", std::bitset<10>(333).to_string().c_str());
}

void maps() {
  std::map<std::string, int> words;
  std::unordered_map<std::string, std::vector<size_t>> places;
  std::string_view text = "the quick brown fox jumps over the lazy dog and the cat";
  for (size_t at = 0, place = 0; at < text.size(); place++) {
    size_t end = std::min(text.find(' ', at), text.size());
    std::string word(text.substr(at, end - at));
    words[word]++;
    places[word].push_back(place);
    at = end + 1;
  }
  for (const auto &[word, count] : words)
    printf("%s:%d ", word.c_str(), count);
  printf("the: %zu %zu %zu of %zu\n", places["the"][0], places["the"][1], places["the"][2],
         places.size());
  std::set<std::pair<int, char>> pairs{{2, 'b'}, {1, 'z'}, {2, 'a'}};
  for (auto [number, letter] : pairs)
    printf("%d%c ", number, letter);
  std::multimap<int, const char *> many{{1, "one"}, {2, "two"}, {1, "uno"}};
  printf("%zu %s\n", many.count(1), many.lower_bound(2)->second);
  std::unordered_map<int, int> squares;
  for (int n = 0; n < 10000; n++)
    squares[n] = n * n;
  printf("%d %zu\n", squares.at(99), squares.size());
}

struct Node {
  explicit Node(std::string name) : name(std::move(name)) {}
  ~Node() { printf("%s ends; ", name.c_str()); }
  std::string name;
  std::shared_ptr<Node> next;
  std::weak_ptr<Node> back;
};

void pointers() {
  auto first = std::make_shared<Node>("first");
  first->next = std::make_shared<Node>("second");
  first->next->back = first;
  printf("uses %ld; ", first.use_count());
  std::weak_ptr<Node> weak = first->next;
  first.reset();
  printf("expired %d\n", weak.expired());
  auto closer = [](FILE *) { printf("closed\n"); };
  std::unique_ptr<FILE, decltype(closer)> file(stdout, closer);
}

template <typename... Cases> struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases> Overloaded(Cases...) -> Overloaded<Cases...>;

void values() {
  std::vector<std::variant<int, double, std::string>> mixed{1, 2.5, "three"};
  for (const auto &value : mixed)
    std::visit(Overloaded{[](int n) { printf("int %d; ", n); },
                          [](double n) { printf("double %g; ", n); },
                          [](const std::string &text) { printf("string %s\n", text.c_str()); }},
               value);
  try {
    printf("%d\n", std::get<int>(mixed[2]));
  } catch (std::bad_variant_access &error) {
    printf("%s\n", error.what());
  }
  std::optional<std::string> maybe;
  printf("%s ", maybe.value_or("nothing").c_str());
  maybe = "something";
  printf("%s\n", maybe->c_str());
  std::any any = 5;
  printf("%d %d\n", std::any_cast<int>(any), std::any_cast<double>(&any) != nullptr);
  std::function<int(int)> factorial = [&](int n) { return n < 2 ? 1 : n * factorial(n - 1); };
  auto half = std::bind(std::divides<double>(), std::placeholders::_1, 2);
  printf("%d %g\n", factorial(10), half(5));
  auto [low, high] = std::minmax({5, 2, 9});
  printf("%d %d %d\n", low, high,
         std::apply([](auto... n) { return (n + ...); }, std::tuple(1, 2, 3)));
}

void texts() {
  std::string text = "Programs of the card";
  text.replace(text.find("card"), 4, "tile").insert(0, "* ");
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return toupper(c); });
  printf("%s %zu\n", text.c_str(), text.rfind('O'));
  printf("%d %.3f %lx\n", std::stoi("-12"), std::stod("2.718281828"),
         std::stoul("ff", nullptr, 16));
  char digits[40];
  auto end = std::to_chars(digits, digits + sizeof digits, 0.1).ptr;
  double back = 0;
  std::from_chars(digits, end, back);
  printf("%s %d\n", std::string(digits, end).c_str(), back == 0.1);
  std::regex words("([a-z]+)=([0-9]+)");
  std::string line = "one=1, two=22";
  for (std::sregex_iterator match(line.begin(), line.end(), words), last; match != last; ++match)
    printf("%s is %s; ", (*match)[1].str().c_str(), (*match)[2].str().c_str());
  std::wstring wide = L"wide";
  printf("%zu\n", (wide + L" text").size());
  std::complex<double> root = std::sqrt(std::complex<double>(-4, 0));
  std::normal_distribution<double> normal(10, 2);
  std::mt19937_64 random(1);
  double sum = 0;
  for (int n = 0; n < 1000; n++)
    sum += normal(random);
  printf("%g %g; mean %.2f; gcd %d\n", root.real(), root.imag(), sum / 1000, std::gcd(84, 36));
}
} // namespace

int main() {
  sequences();
  maps();
  pointers();
  values();
  texts();
}

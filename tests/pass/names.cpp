// C++ names in placement files: qualified, with and without template arguments, whole signatures,
// classes and namespaces, thunks, operators, ABI tags.
// RUN: cd %S && %flickxx -std=c++17 -O0 -mllvm -flick-place=names.place -c names.cpp -o %t.o && %links %t.o
// RUN: %places %t.o | cut -f 3-5 | llvm-cxxfilt-19 | sort >%t.places && FileCheck names.cpp <%t.places
// RUN: not grep -e 'Stack<long>' -e 'twice<long>' -e '^cut(int)' %t.places
// RUN: echo 'nxp two words' >%t.bad
// RUN: not %flickxx -mllvm -flick-place=%t.bad -c names.cpp -o %t.o 2>&1 | FileCheck names.cpp --check-prefix=BAD
// BAD: expected one pattern after 'nxp'
#include <vector>

namespace app {
// CHECK-DAG: app::plain(int) nxp name:names.place:1
int plain(int x) { return x; }
// CHECK-DAG: app::plain(char const*) host name:names.place:2
int plain(const char *x) { return *x; }
// CHECK-DAG: app::plain(char const**) nxp name:names.place:1
int plain(const char **x) { return **x; }
// CHECK-DAG: app::Whole::Whole(int) nxp glob:names.place:5
// CHECK-DAG: app::Whole::~Whole() nxp glob:names.place:5
// CHECK-DAG: app::Whole::Nested::f() nxp glob:names.place:5
// CHECK-DAG: app::Whole::make() nxp glob:names.place:5
struct Whole {
  int n;
  Whole(int n);
  ~Whole();
  struct Nested {
    int f();
  };
  static Whole make();
};
Whole::Whole(int n) : n(n) {}
Whole::~Whole() { n = 0; }
int Whole::Nested::f() { return 1; }
Whole Whole::make() { return Whole(2); }
namespace inner {
// CHECK-DAG: app::inner::deep::f(int) nxp glob:names.place:6
namespace deep {
int f(int x) { return x; }
} // namespace deep
} // namespace inner
} // namespace app
template <class T> struct Stack {
  T top;
  void push(T x) { top = x; }
};
template <class T> struct Pool {
  T one;
  T take() { return one; }
};
// CHECK-DAG: Stack<int>::push(int) nxp name:names.place:3
template struct Stack<int>;
template struct Stack<long>;
// CHECK-DAG: Pool<int>::take() nxp name:names.place:4
// CHECK-DAG: Pool<long>::take() nxp name:names.place:4
template struct Pool<int>;
template struct Pool<long>;

struct Base1 {
  virtual int first(int);
  int a;
};
struct Base2 {
  virtual int call(int);
  int b;
};
struct Base12 : Base1, Base2 {
  int call(int) override;
};
// CHECK-DAG: Base2::call(int) nxp name:names.place:7
// CHECK-DAG: {{^}}Base12::call(int) nxp name:names.place:14
// CHECK-DAG: non-virtual thunk to Base12::call(int) nxp name:names.place:14
int Base1::first(int x) { return x; }
int Base2::call(int x) { return x + b; }
int Base12::call(int x) { return x - b; }

struct Vec {
  int v[4];
  int operator[](int i) const;
  Vec operator*(int x) const;
};
// CHECK-DAG: Vec::operator[](int) const nxp name:names.place:8
int Vec::operator[](int i) const { return v[i]; }
// CHECK-DAG: Vec::operator*(int) const nxp name:names.place:9
Vec Vec::operator*(int x) const { return {{x}}; }
// CHECK-DAG: tagged[abi:one]() nxp name:names.place:10
[[gnu::abi_tag("one")]] int tagged() { return 1; }
// CHECK-DAG: pick(std::vector<int, std::allocator<int>> const&, long (&) [3]) nxp
// name:names.place:11
int pick(const std::vector<int> &v, long (&a)[3]) { return v.size() + a[1]; }
// CHECK-DAG: int twice<int>(int) nxp name:names.place:12
template <class T> T twice(T x) { return x + x; }
template int twice<int>(int);
template long twice<long>(long);
// CHECK-DAG: int cut<int>(int) nxp glob:names.place:13
// CHECK-DAG: char cut<char>(char) nxp glob:names.place:13
template <class T> T cut(T x) { return x - 1; }
template int cut<int>(int);
template char cut<char>(char);
int cut(int x) { return x; }

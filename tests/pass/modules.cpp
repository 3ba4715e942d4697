// C++20 modules: names in placement files are those of the source, without the module.
// RUN: printf '%%s\n' 'nxp area' 'nxp class Square' 'host Square::host()' 'nxp in::part(int)' >%t.place
// RUN: %flickxx -std=c++20 -O0 -x c++-module -mllvm -flick-place=%t.place -c %s -o %t.o && %links %t.o
// RUN: %places %t.o | cut -f 3-4 | llvm-cxxfilt-19 | sort >%t.places && FileCheck %s <%t.places
export module shape.round;

// CHECK-DAG: area@shape.round(int, int) nxp
export int area(int a, int b) { return a * b; }
// CHECK-DAG: Square@shape.round::area() const nxp
// CHECK-DAG: Square@shape.round::same(Square@shape.round const&) const nxp
// CHECK-DAG: Square@shape.round::host() host
export struct Square {
  int n;
  int area() const;
  bool same(const Square &other) const;
  int host();
};
int Square::area() const { return n * n; }
bool Square::same(const Square &other) const { return n == other.n; }
int Square::host() { return n; }
// CHECK-DAG: in::part@shape.round(int) nxp
namespace in {
export int part(int x) { return x; }
} // namespace in

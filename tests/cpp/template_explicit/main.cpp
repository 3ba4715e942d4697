// A class template instantiated explicitly in one unit, `extern template` elsewhere; some members
// placed. And a placed specialization of a template that is not.
// OUT: 15 15 15
// OUT: primary special
#include "matrix.h"
#include <cstdio>

FLICK_NXP static int trace_of(const Matrix<int> &m) { return m.trace(); }

int main() {
  Matrix<int> m;
  m.fill(1);
  int sum = 0;
  for (int i = 0; i < 3; i++)
    sum += m.at(i, i);
  std::printf("%d %d %d\n", trace_of(m), sum, m.trace());
  std::printf("%s %s\n", name_of(1L), name_of(1));
}

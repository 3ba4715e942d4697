#ifndef MATRIX_H
#define MATRIX_H
#include <flick.h>

template <class T> class Matrix {
  T cells[3][3];

public:
  FLICK_NXP void fill(T from) {
    for (auto &row : cells)
      for (T &cell : row)
        cell = from++;
  }
  T at(int i, int j) const { return cells[i][j]; }
  FLICK_NXP T trace() const;
};
template <class T> T Matrix<T>::trace() const {
  T sum = 0;
  for (int i = 0; i < 3; i++)
    sum += at(i, i);
  return sum;
}
extern template class Matrix<int>;

template <class T> const char *name_of(T) { return "primary"; }
template <> FLICK_NXP const char *name_of(int);
#endif

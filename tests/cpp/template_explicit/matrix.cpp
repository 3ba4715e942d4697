#include "matrix.h"

template class Matrix<int>;
template <> FLICK_NXP const char *name_of(int) { return "special"; }

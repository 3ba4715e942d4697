#include "flick.h"

int own_floors, own_ceils, own_rounds, own_truncs;

float floorf(float x) {
  own_floors++;
  return (float)(int)x - (x < 0);
}

double ceil(double x) {
  own_ceils++;
  return (double)(int)x + (x > 0);
}

FLICK_NXP float roundf(float x) {
  own_rounds++;
  return (float)(int)(x + (x < 0 ? -0.5f : 0.5f));
}

double __real_trunc(double);
double __wrap_trunc(double x) {
  own_truncs++;
  return __real_trunc(x) + 1;
}

float __real_truncf(float);
float __wrap_truncf(float x) {
  own_truncs++;
  return __real_truncf(x) + 1;
}

#ifndef PLUGIN_H
#define PLUGIN_H
#include <flick.h>

struct Filter {
  virtual ~Filter() = default;
  virtual int apply(int x) = 0;
};
#endif

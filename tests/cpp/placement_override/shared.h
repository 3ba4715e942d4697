#pragma once
#include <flick.h>

// Marked on the declaration, in every unit.
FLICK_NXP int sent_back(int x);
FLICK_NXP int sent_back_too(int x);
FLICK_HOST int kept_there(int x);
FLICK_NXP int spread(int x);

struct Base {
  virtual int marked(int x) = 0;
  virtual ~Base() = default;
};
struct Other {
  virtual int fetched(int x) = 0;
  virtual ~Other() = default;
};
// `marked` is overridden behind a thunk.
struct Box : Other, Base {
  int fetched(int x) override;
  FLICK_NXP int marked(int x) override;
};

#ifndef CONFIG_H
#define CONFIG_H
#include <flick.h>

inline int calls = 0;
FLICK_NXP inline int initial() { return calls++ + 5; }
inline int limit = initial();
struct Settings {
  static inline int step = 2;
};
int limit_there();
int *where();
#endif

#ifndef LOG_H
#define LOG_H
#include <flick.h>

class Entry {
  const char *name;
  int number;

public:
  Entry(const char *name, int number);
  ~Entry();
  int value() const;
};
int twice(int);
int total();
void note(const char *what, int number);
#endif

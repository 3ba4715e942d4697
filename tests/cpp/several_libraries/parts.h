#ifndef PARTS_H
#define PARTS_H
#include <flick.h>

inline int shared_count = 0;
struct Part {
  Part();
  virtual ~Part();
  virtual int work(int x) = 0;
};
Part *first_make(Part *);
int first_run(Part *, int x);
void first_drop(Part *);
int first_alive();
Part *second_make(Part *);
#endif

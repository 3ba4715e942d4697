#ifndef LIBRARY_H
#define LIBRARY_H
#include <flick.h>

inline int &count() {
  static int n = 0;
  return n;
}
struct Animal {
  Animal();
  virtual ~Animal();
  virtual int legs() const = 0;
  virtual const char *name() const;
};
struct Dog : Animal {
  int barks;
  explicit Dog(int);
  ~Dog() override;
  int legs() const override;
};
Animal *make_dog(int);
int library_sum(const Animal &, const Animal &);
int library_count();
void library_delete(Animal *);
#endif

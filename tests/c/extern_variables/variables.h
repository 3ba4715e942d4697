#ifndef VARIABLES_H
#define VARIABLES_H
struct shared {
  int a;
  double b;
  int *p;
  int (*f)(int);
};
extern struct shared shared;
extern int numbers[3], near_numbers[3], tentative;
extern const char *const words[];
extern _Thread_local int per_thread;
int main_function(int x);
int other_work(int k);
#endif

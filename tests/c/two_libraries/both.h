#ifndef BOTH_H
#define BOTH_H
typedef long step(long x, int n);
long left(long x, int n, step *next);
long right(long x, int n, step *next);
long left_count(void);
long right_count(void);
#endif

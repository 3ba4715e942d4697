#ifndef BOTH_H
#define BOTH_H
#include <flick.h>
#ifdef __cplusplus
extern "C" {
struct counter;
#endif
typedef struct counter counter;
extern int c_live;
counter *counter_new(int start);
int counter_add(counter *c, int x);
void counter_delete(counter *c);
int c_apply(int (*f)(int), int x);
int c_nxp(int x);
int c_uses_counter(int x);
#ifdef __cplusplus
}
#endif
#endif

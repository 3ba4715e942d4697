#ifndef ORDER_H
#define ORDER_H
#include <flick.h>
#ifdef __cplusplus
extern "C" {
#endif
void say(const char *what, int n);
void c_register(int n);
#ifdef __cplusplus
}
#endif
#endif

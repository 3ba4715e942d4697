#ifndef LIBRARY_H
#define LIBRARY_H
typedef int event(int);
extern int library_value;
int library_call(event *f, int x);
int library_nxp(int x);
int library_host(int x);
event *library_address(void);
int library_is_own(event *f);
#endif

// Every module takes the address of the same things, on each side.
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*any)(void);
int program_nxp(int x);
int program_host(int x);
int library_nxp(int x);
int library_both(int x);
int library_alias(int x);
int other_function(int x);
extern int library_data, program_data;

enum { THINGS = 11 };

#define TAKE(mark, name)                                                                           \
  mark any name(int which) {                                                                       \
    any volatile things[THINGS] = {(any)program_nxp,     (any)program_host,  (any)library_nxp,     \
                                   (any)library_both,    (any)library_alias, (any)other_function,  \
                                   (any)printf,          (any)qsort,         (any) & library_data, \
                                   (any) & program_data, (any) & stdout};                          \
    return things[which];                                                                          \
  }

any library_take_host(int which);
any library_take_nxp(int which);
any fast_take_host(int which);
any fast_take_nxp(int which);
any other_take(int which);

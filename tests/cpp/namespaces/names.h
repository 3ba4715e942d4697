#ifndef NAMES_H
#define NAMES_H
#include <flick.h>

int other_helper(int);
int other_local();
#endif

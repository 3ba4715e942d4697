#ifndef SHARED_H
#define SHARED_H
#include <flick.h>

inline int plain(int x) { return x + 1; }
FLICK_NXP inline int marked(int x) { return x + 2; }
using function = int (*)(int);
function host_plain();
function nxp_plain();
function host_marked();
function nxp_marked();
#endif

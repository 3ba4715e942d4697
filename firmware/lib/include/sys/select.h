/* Numbers of files of servers are behind those of others. */
#ifndef FD_SETSIZE
#define FD_SETSIZE 128
#endif
#include_next <sys/select.h>

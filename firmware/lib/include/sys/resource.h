/* picolibc's, and limits of a program. */
#pragma once
#include_next <sys/resource.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned long rlim_t;

struct rlimit {
  rlim_t rlim_cur, rlim_max;
};

#define RLIM_INFINITY (~0ul)
#define RLIMIT_CPU 0
#define RLIMIT_FSIZE 1
#define RLIMIT_DATA 2
#define RLIMIT_STACK 3
#define RLIMIT_CORE 4
#define RLIMIT_NOFILE 7
#define RLIMIT_AS 9

/* The number of open files has a limit. Memory has that of the machine. */
int getrlimit(int resource, struct rlimit *limit);
/* Limits stay as they are: EPERM. */
int setrlimit(int resource, const struct rlimit *limit);

#ifdef __cplusplus
}
#endif

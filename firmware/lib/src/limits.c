// Limits of a program.
#include <errno.h>
#include <sys/resource.h>

#include "file_table.h"

int getrlimit(int resource, struct rlimit *limit) {
  rlim_t most = resource == RLIMIT_NOFILE ? MOST_FILES : RLIM_INFINITY;
  *limit = (struct rlimit){most, most};
  return 0;
}

int setrlimit(int resource, const struct rlimit *limit) {
  struct rlimit now;
  getrlimit(resource, &now);
  if (limit->rlim_cur == now.rlim_cur && limit->rlim_max == now.rlim_max)
    return 0;
  errno = EPERM;
  return -1;
}

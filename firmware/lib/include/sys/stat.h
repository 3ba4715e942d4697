/* picolibc's, and the parts of POSIX that it leaves out. */
#pragma once
#include_next <sys/stat.h>

#ifdef __cplusplus
extern "C" {
#endif

int lstat(const char *path, struct stat *about);
int mknod(const char *path, mode_t mode, dev_t device);

#ifdef __cplusplus
}
#endif

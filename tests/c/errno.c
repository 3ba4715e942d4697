// errno set by the C library under NxP code, read there and on the host, and set by NxP code.
// OUT: 1 1
// OUT: 0 1 -1
// OUT: Inappropriate ioctl for device
#include <errno.h>
#include <fcntl.h>
#include <flick.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

FLICK_NXP static int fail(const char *path) {
  errno = 0;
  int fd = open(path, O_RDONLY);
  int first = errno;
  if (fd < 0 && close(-1) == -1)
    return first * 1000 + errno;
  return -1;
}
FLICK_NXP static int range(const char *digits) {
  errno = 0;
  long v = strtol(digits, NULL, 10);
  return errno == ERANGE ? (v > 0 ? 1 : -1) : 0;
}
FLICK_NXP static void set(int e) { errno = e; }

int main(void) {
  int r = fail("/nonexistent/file");
  printf("%d %d\n", r == ENOENT * 1000 + EBADF, errno == EBADF);
  printf("%d %d %d\n", range("12"), range("99999999999999999999"), range("-99999999999999999999"));
  set(ENOTTY);
  printf("%s\n", strerror(errno));
}

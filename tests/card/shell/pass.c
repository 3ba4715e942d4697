// A program as a stage of the shell that names no file: its input is its output.
#include <unistd.h>

int main(void) {
  static char part[3000];
  ssize_t size;
  while ((size = read(0, part, sizeof part)) > 0)
    if (write(1, part, size) != size)
      return 1;
  return size < 0;
}

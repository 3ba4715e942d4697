/* Stands in PATH for a tool that is warm: `DIR/NAME` asks the server at `DIR/NAME.socket`, and
   becomes the tool itself, `DIR/cold/NAME`, where there is none. */
#define _GNU_SOURCE
#include "request.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  char self[PATH_MAX], path[PATH_MAX + 16];
  ssize_t length = argc > 0 ? readlink("/proc/self/exe", self, sizeof self - 1) : -1;
  if (length < 0)
    return 127;
  self[length] = 0;
  char *slash = strrchr(self, '/');
  /* All names are links to one file. */
  const char *name = strrchr(argv[0], '/');
  name = name ? name + 1 : argv[0];
  *slash = 0;
  int status;
  snprintf(path, sizeof path, "%s/%s.socket", self, name);
  if (request_send(path, argv, environ, &status))
    end_as(status);
  snprintf(path, sizeof path, "%s/cold/%s", self, name);
  execv(path, argv);
  fprintf(stderr, "%s: %s\n", path, strerror(errno));
  return 127;
}

// The C library's getline grows a buffer that NxP code allocated; strdup'ed lines are freed on
// either side. Expects every line.
// OUT: 5 [short]
// OUT: 57 [a somewhat longer li]
// OUT: 0 []
// OUT: 90 [the longest line of ]
// STDIN: short
// STDIN: a somewhat longer line that does not fit the first buffer
// STDIN:
// STDIN: the longest line of all, 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
  char *lines[8];
  int n;
};

FLICK_NXP static char *small(size_t *size) {
  *size = 4;
  return malloc(4);
}
FLICK_NXP static void read_all(struct text *t) {
  size_t size;
  char *line = small(&size);
  ssize_t length;
  while ((length = getline(&line, &size, stdin)) >= 0) {
    if (length && line[length - 1] == '\n')
      line[length - 1] = 0;
    t->lines[t->n++] = strdup(line);
  }
  free(line);
}
FLICK_NXP static void release(char *p) { free(p); }

int main(void) {
  struct text t = {.n = 0};
  read_all(&t);
  for (int i = 0; i < t.n; i++) {
    printf("%zu [%.20s]\n", strlen(t.lines[i]), t.lines[i]);
    if (i % 2)
      release(t.lines[i]);
    else
      free(t.lines[i]);
  }
}

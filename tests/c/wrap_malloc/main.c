// Wrappers of the program's, by the linker's --wrap, see the calls of NxP code.
// SKIP-MODE: static the C library's and the runtime's own calls are wrapped too
// STEP: link main.c wrappers.c -Wl,--wrap=malloc,--wrap=strdup -Wl,--wrap -Wl,calloc
// OUT: 2 malloc, 1 calloc, 1 strdup: text
#include "flick.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int mallocs, callocs, strdups;

FLICK_NXP __attribute__((noinline)) static char *work(void) {
  char *volatile a = malloc(10);
  char *volatile b = malloc(20);
  char *volatile c = calloc(3, 3);
  free(a);
  free(b);
  free(c);
  return strdup("text");
}

int main(void) {
  free(work());
  int before[] = {mallocs, callocs, strdups};
  char *text = work();
  printf("%d malloc, %d calloc, %d strdup: %s\n", mallocs - before[0], callocs - before[1],
         strdups - before[2], text);
  free(text);
  return 0;
}

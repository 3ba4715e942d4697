// Standard input to its end, with all bytes.
// INPUT: first line\nsecond \x04 \x16 line\nno end of line
// STATUS: 3
#include <stdio.h>
#include <string.h>

int main(void) {
  char line[64];
  int lines = 0;
  while (fgets(line, sizeof line, stdin)) {
    printf("%d:", ++lines);
    for (char *at = line; *at; at++)
      printf(*at < ' ' ? " <%d>" : "%c", *at);
    printf("\n");
  }
  printf("end %d, again %d\n", feof(stdin) != 0, getchar() == EOF);
  return lines;
}

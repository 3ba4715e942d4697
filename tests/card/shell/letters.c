// A program as a stage of the shell: letters of its input become large. `-f FILE` writes a file,
// `-x STATUS` ends with a status, `-1` takes one line alone, and other words are written behind.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int write_file(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) {
    perror(path);
    return 3;
  }
  for (int c; (c = getc(file)) != EOF;)
    putchar(c);
  return fclose(file);
}

int main(int argc, char **argv) {
  if (argc > 2 && !strcmp(argv[1], "-f"))
    return write_file(argv[2]);
  if (argc > 2 && !strcmp(argv[1], "-x"))
    return atoi(argv[2]);
  if (argc > 1 && !strcmp(argv[1], "-1")) {
    char line[100];
    return !fgets(line, sizeof line, stdin) || fputs(line, stdout) < 0;
  }
  for (int c; (c = getchar()) != EOF;)
    putchar(toupper(c));
  for (int n = 1; n < argc; n++)
    printf("%s\n", argv[n]);
  return 0;
}

#include <stdio.h>

int main(void) {
  FILE *file = fopen("words.txt", "r");
  if (!file) {
    perror("words.txt");
    return 1;
  }
  char line[80];
  int words = 0, lines = 0;
  while (fgets(line, sizeof line, file))
    words++;
  while (fgets(line, sizeof line, stdin))
    lines++;
  printf("%d words, %d lines\n", words, lines);
  return 0;
}

// Files written and read by NxP code through stdio: formatted, by lines, by blocks, with seeking,
// ungetc, and an end of file.
// OUT: 240 11628 20 1027686
#include <flick.h>
#include <stdio.h>
#include <string.h>

struct entry {
  int id;
  double value;
};

FLICK_NXP static long write_all(FILE *f) {
  for (int i = 0; i < 20; i++)
    fprintf(f, "%d:%s:%.2f\n", i, i % 2 ? "odd" : "even", i / 4.0);
  struct entry e[3] = {{1, 0.5}, {2, 1.5}, {3, 2.5}};
  long at = ftell(f);
  return fwrite(e, sizeof *e, 3, f) == 3 ? at : -1;
}
FLICK_NXP static double read_all(FILE *f, long binary_at, int *lines) {
  char line[64], word[8];
  double sum = 0, value;
  int id;
  rewind(f);
  while (ftell(f) < binary_at && fgets(line, sizeof line, f)) {
    if (sscanf(line, "%d:%7[a-z]:%lf", &id, word, &value) == 3)
      sum += id * value + (strcmp(word, "odd") == 0);
    ++*lines;
  }
  struct entry e;
  while (fread(&e, sizeof e, 1, f) == 1)
    sum += e.id * e.value * 1000;
  if (feof(f) && !ferror(f))
    sum += 0.5;
  return sum;
}
FLICK_NXP static int characters(FILE *f) {
  int c, n = 0;
  fseek(f, 2, SEEK_SET);
  while ((c = getc(f)) != EOF && c != '\n')
    n = n * 3 + c;
  ungetc('!', f);
  return getc(f) == '!' ? n : -1;
}

int main(void) {
  FILE *f = tmpfile();
  int lines = 0;
  long at = write_all(f);
  double sum = read_all(f, at, &lines);
  printf("%ld %.17g %d %d\n", at, sum, lines, characters(f));
  fclose(f);
}

// Functions of string.h, stdlib.h and ctype.h called by NxP code.
// OUT: 5 Some-Words-Separated-By-Marks
// OUT: 741
// OUT: 81322
#include <ctype.h>
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FLICK_NXP static int words(char *text, char *out) {
  int n = 0;
  for (char *w = strtok(text, " ,;"); w; w = strtok(NULL, " ,;")) {
    w[0] = (char)toupper((unsigned char)w[0]);
    strcat(strcat(out, n ? "-" : ""), w);
    n++;
  }
  return n;
}
FLICK_NXP static long numbers(const char *text) {
  char *end;
  long a = strtol(text, &end, 10), b = strtol(end, &end, 16);
  double d = strtod(end, &end);
  unsigned long u = strtoul(end, &end, 0);
  return a + b * 2 + (long)(d * 8) + (long)u + *end + atoi("77");
}
FLICK_NXP static int searches(const char *s) {
  const char *p = strstr(s, "needle"), *q = strrchr(s, 'e'), *r = strpbrk(s, "xyz");
  return (int)(p - s) * 10000 + (int)(q - s) * 100 + (int)strcspn(s, "dk") + (r == NULL) +
         (strncmp(p, "need", 4) == 0) + (strcmp("a", "b") < 0) * 2 + (int)strspn(s, "hay ");
}

int main(void) {
  char text[] = "some words, separated;by marks", out[64] = "";
  int n = words(text, out);
  printf("%d %s\n", n, out);
  printf("%ld\n", numbers(" -12 ff 2.75 0x1fq"));
  printf("%d\n", searches("hay hay needle hay"));
}

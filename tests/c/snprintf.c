// snprintf and sscanf called by NxP code, into buffers on its own stack. Expects lengths, texts,
// truncation and scanned values as in plain C.
#include <flick.h>
#include <stdio.h>
#include <string.h>

FLICK_NXP static int format(char *out, size_t size, int n, double d) {
  char local[64];
  int length = snprintf(local, sizeof local, "<%d:%.2f:%s:%ld>", n, d, "s", n * (1L << 33));
  int cut = snprintf(out, size, "%s", local);
  return length * 100 + cut;
}

FLICK_NXP static int scan(const char *text, int *i, double *d, char *word) {
  short h;
  float f;
  int n = sscanf(text, "%d %lf %15s %hd %f", i, d, word, &h, &f);
  return n == 5 ? (int)(h * f) : -n;
}

int main(void) {
  char text[16], word[16];
  for (size_t size = 1; size <= sizeof text; size += 5)
    printf("%d %s\n", format(text, size, (int)size - 9, 2.5 * (double)size), text);
  int i = 0;
  double d = 0;
  int r = scan("-12 3.75 word 8 0.5", &i, &d, word);
  printf("%d %d %g %s\n", r, i, d, word);
  r = scan("77 x", &i, &d, word);
  printf("%d %d\n", r, i);
}

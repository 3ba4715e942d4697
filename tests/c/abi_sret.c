// Results of more than 16 bytes, returned in memory, in both directions and through pointers.
// OUT: 37 74 37 74 37 74 37 74 37 74 one-two one-one
#include <flick.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  long v[5];
  char text[12];
} big;

FLICK_HOST static big host_make(int from, const char *text) {
  big b;
  for (int i = 0; i < 5; i++)
    b.v[i] = from + i;
  strncpy(b.text, text, sizeof b.text - 1);
  b.text[sizeof b.text - 1] = 0;
  return b;
}

FLICK_NXP static big nxp_add(big a, big b) {
  for (int i = 0; i < 5; i++)
    a.v[i] += b.v[4 - i];
  strcpy(a.text + 3, b.text[0] == 't' ? "-two" : "-one");
  return a;
}

FLICK_NXP static big nxp_both(int n) {
  big (*volatile make)(int, const char *) = host_make;
  big a = host_make(n, "one"), b = make(n * 10, "two");
  return nxp_add(a, b);
}

int main(void) {
  big (*volatile both)(int) = nxp_both;
  big r = both(3), s = nxp_add(r, r);
  for (int i = 0; i < 5; i++)
    printf("%ld %ld ", r.v[i], s.v[i]);
  printf("%s %s\n", r.text, s.text);
}

// Global and static variables of many types, with and without initial values, written by one side
// and read by the other. Expects one object each.
// OUT: 6 -77 changed on the NxP 0.5 nxp 600 7
// OUT: 1
#include <flick.h>
#include <stdio.h>
#include <string.h>

int counter = 5;
static long hidden = -1;
const int constant = 77;
static const char *text = "start";
double zero_at_start;
static char buffer[16];
struct {
  int a;
  struct {
    short b[3];
  } inner;
} aggregate = {1, {{2, 3, 4}}};
int *to_counter = &counter;
extern int later;

FLICK_NXP static void change(void) {
  counter++;
  hidden *= constant;
  text = "changed on the NxP";
  zero_at_start += 0.5;
  strcpy(buffer, "nxp");
  aggregate.inner.b[1] = (short)(*to_counter * 100);
  to_counter = &later;
  later -= 1;
}
FLICK_NXP static int check(void) {
  return counter == 16 && !strcmp(buffer, "host") && *to_counter == 9 && text[0] == 'h';
}

int later = 8;

int main(void) {
  change();
  printf("%d %ld %s %g %s %d %d\n", counter, hidden, text, zero_at_start, buffer,
         aggregate.inner.b[1], *to_counter);
  counter += 10;
  text = "host text";
  strcpy(buffer, "host");
  *to_counter = 9;
  printf("%d\n", check());
}

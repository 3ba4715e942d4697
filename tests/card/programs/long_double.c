// Formats with long double, among other values, and what has no value.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  printf("%Lg %Lf %.15Lg %d\n", 0.1L, 2.5L, 1 / 3.0L, 7);
  printf("%d %Lg %d %Lg\n", 1, 2.0L, 3, 4.0L);
  printf("%*.*Lf|%-8Lg|%s %5.1Le%% %c Load\n", 10, 2, -1.5L, 0.25L, "text", 1e300L, 'X');
  char text[40];
  int length = snprintf(text, sizeof text, "%.*Lg %g", 10, 0.1L, 0.2);
  printf("%s %d %Lg %g\n", text, length, strtold("0.125", NULL), (double)sqrtl(2));
  return 0;
}

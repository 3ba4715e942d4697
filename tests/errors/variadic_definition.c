// A variadic function can be called from the NxP but not be placed there yet.
// FAILS: compile FLK0207
// SAYS: 'sum'
#include <flick.h>
#include <stdarg.h>

FLICK_NXP int sum(int n, ...) /* HERE */
{
  va_list list;
  int s = 0;
  va_start(list, n);
  while (n--)
    s += va_arg(list, int);
  va_end(list);
  return s;
}

int main(void) { return sum(2, 1, -1); }

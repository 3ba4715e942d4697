// goto in NxP code: backwards, out of nested loops, into cleanup code, irreducible loops.
// OUT: 111 0 6
// OUT: 2324 -1
// OUT: 0 1 11
#include <flick.h>
#include <stdio.h>

FLICK_HOST static int step(int x) { return x * 3 + 1; }

FLICK_NXP static int irreducible(int n) {
  int count = 0;
  if (n & 1)
    goto odd;
even:
  n /= 2;
  count++;
  if (n & 1)
    goto odd;
  goto even;
odd:
  if (n == 1)
    return count;
  n = step(n);
  count++;
  goto even;
}
FLICK_NXP static int search(int target) {
  int i, j;
  for (i = 1; i < 30; i++)
    for (j = i; j < 30; j++)
      if (i * i + j * j == target)
        goto found;
  return -1;
found:
  return i * 100 + j;
}
FLICK_NXP static int cleanup(int fail_at) {
  int released = 0;
  if (fail_at == 0)
    goto out;
  if (fail_at == 1)
    goto first;
  released += 10;
first:
  released += 1;
out:
  return released;
}

int main(void) {
  printf("%d %d %d\n", irreducible(27), irreducible(1), irreducible(64));
  printf("%d %d\n", search(1105), search(7));
  printf("%d %d %d\n", cleanup(0), cleanup(1), cleanup(2));
}

// Hidden, internal, protected and default functions on the NxP in two shared libraries that have
// the same hidden names, with the program's own functions of these names beside them.
// SKIP-MODE: static a static program has no shared library
// STEP: cc -shared -fvisibility=hidden left.c -o libleft.so
// STEP: cc -shared -fvisibility=hidden right.c -o libright.so
// STEP: link main.c -L. -lleft -lright -Wl,-rpath,$ORIGIN
#include <flick.h>
#include <stdio.h>

typedef int function(int);
int left_protected(int), left_public(int), left_host(int);
int right_protected(int), right_public(int), right_host(int);
function *left_address(int);
function *right_address(int);

FLICK_NXP int helper(int x) { return x - 1; }
int counter = 5;
FLICK_NXP int inner(int x) { return helper(x) + counter++; }

FLICK_NXP static int all(int x) {
  return left_protected(x) + right_protected(x) * 1000 + inner(x) * 1000000;
}

int main(void) {
  printf("%d %d %d\n", left_public(1), right_public(1), inner(1));
  printf("%d %d %d\n", left_host(2), right_host(2), helper(2));
  printf("%d\n", all(3));
  for (int which = 0; which < 3; which++)
    printf("%d %d\n", left_address(which)(4), right_address(which)(4));
  printf("%d %d\n", left_address(1) == left_public, right_address(2) == helper);
}

# A call's signature is overwritten, as by a wild pointer: the crossing says so, and the page of the
# error says how valgrind helps.
. "$FLICK_TEST_ERRORS/lib.sh"
cat >main.c <<'C'
#include <flick.h>
#include <stdio.h>
struct three {
  long a, b, c;
};
FLICK_NXP __attribute__((noinline)) long add(struct three x, long b) { return x.a + x.c + b; }
int main(void) {
  struct three x = {1, 2, 3};
  printf("%ld\n", add(x, 2));
  return 0;
}
C
"$cc" -O1 main.c -o prog
status 0 ./prog
has out 6
place=$(grep -abo '1l(B24a8l)' prog | head -n 1)
[ -n "$place" ] || die 'no signature'
cp prog bad && put bad ${place%%:*} 9
refuses FLK0505 'a call'\''s signature is not understood: "9l(B24a8l)"' 'build every object' -- ./bad
status 0 "$flick" explain FLK0505
has out 'Look for a wild pointer' 'valgrind works on Flick programs' '`-g -gdwarf-4`'

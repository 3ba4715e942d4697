# A function that a glob or the dice chose and that cannot be placed stays on the host, and the
# explanation says why.
. "$FLICK_TEST_ERRORS/lib.sh"
cat >main.c <<'C'
#include <stdio.h>
__attribute__((noinline)) unsigned stamp(void) {
  unsigned low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return low | high | 1;
}
__attribute__((noinline)) int twice(int x) {
  volatile int y = x;
  return y + y;
}
int main(void) {
  printf("%d %d\n", stamp() != 0, twice(4));
  return 0;
}
C
printf 'nxp *\nhost main\n' >all.place
for place in all.place random:1:100; do
  "$cc" -O2 --flick-place=$place main.c -o prog
  FLICK_OFFLOAD=require FLICK_STATS=./stats status 0 ./prog
  has out '1 8'
  status 0 "$flick" place --explain prog
  grep 'stamp' out | grep -q FLK0202 || die "stamp is not explained:" "$(cat out)"
  grep 'twice' out | grep -q nxp || die "twice is not on the NxP:" "$(cat out)"
done

# A child of fork on a card counts its own: instructions of harts, descriptors and time.
. "$FLICK_TEST_ERRORS/lib.sh"
[ -e "$(dirname "$FLICK_TEST_FLICK")/../lib/flick/card/kernel-host.elf" ] || exit 0
cat >forked.c <<'C'
#include <flick.h>
#include <sys/wait.h>
#include <unistd.h>
FLICK_NXP __attribute__((noinline)) static int step(int x) { return x + 1; }
int main(void) {
  for (int i = 0; i < 1000; i++)
    (void)step(i);
  if (fork() == 0) {
    for (int i = 0; i < 10; i++)
      (void)step(i);
    return 0;
  }
  wait(NULL);
  return 0;
}
C
"$cc" -O1 forked.c -o forked
status 0 timeout 60 "$FLICK_TEST_FLICK" stat -o report --machine card ./forked
# The child ends first.
has report '10 descriptors there, and 10 back' '1,000 descriptors there, and 1,000 back'
awk '/Flick summary/ { process++ }
  / of virtual time/ { time[process] = $1 * ($2 == "ms" ? 1000 : 1) }
  $3 == "hart" && $4 == 1 { gsub(",", ""); kernel[process] = $1; functions[process] = $2 }
  END {
    exit !(process == 2 && functions[1] * 100 == functions[2] && kernel[1] > 0 &&
      kernel[1] * 50 < kernel[2] && time[1] * 50 < time[2])
  }' report || die "the child has what is the parent's: $(cat report)"

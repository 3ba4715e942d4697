# Faults of the card under a program of the host (docs/faults.md): the program goes on, or ends with a reason.
# Nothing waits for ever.
. "$FLICK_TEST_ERRORS/lib.sh"
[ -e "$(dirname "$FLICK_TEST_FLICK")/../lib/flick/card/kernel-host.elf" ] || exit 0
cat >calls.c <<'END'
#include <flick.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
FLICK_NXP __attribute__((noinline)) static unsigned long step(unsigned long x) {
  volatile unsigned long kept = x;
  for (int i = 0; i < 100; i++)
    kept = kept * 3 + 1;
  return kept;
}
static void *many(void *argument) {
  unsigned long x = (unsigned long)argument;
  for (int i = 0; i < 1000; i++)
    x = step(x);
  return (void *)x;
}
int main(int argc, char **argv) {
  unsigned long threads = argc > 1 ? strtoul(argv[1], NULL, 0) : 3;
  pthread_t all[8];
  unsigned long sum = 0;
  for (unsigned long i = 0; i < threads; i++)
    pthread_create(&all[i], NULL, many, (void *)i);
  for (unsigned long i = 0; i < threads; i++) {
    void *x;
    pthread_join(all[i], &x);
    sum += (unsigned long)x;
  }
  printf("%lu\n", sum);
  return 0;
}
END
"$cc" -O1 calls.c -o calls -lpthread
# after LINE…: runs the program with one fault, some crossings after its start.
after() {
  printf '%s\n' '[[fault]]' 'at = { time = "300 us" }' "$@" >faults.toml
  timeout 60 "$FLICK_TEST_FLICK" stat -o report --machine card --inject faults.toml $program
}
goes_on() {
  status 0 after "$@"
  cmp -s out right || die "other results with: $*" $'\n'"$(cat out err)"
}
ends() { # CODE LINE…
  local code=$1 want=125
  shift
  [ "$code" = FLK0501 ] && want=139
  status $want after "$@"
  has err "[$code]"
}
corrupt() { echo "do = \"corrupt-descriptor\""$'\n'"field = \"$1\""$'\n'"bits = $2"; }

# Harts, and the kernel, which eight threads need for five harts.
program='./calls 8'
./calls 8 >right
ends FLK0509 'do = "stop-hart"' 'hart = 0'
ends FLK0509 'do = "stop-hart"' 'hart = 1' '[[fault]]' 'at = { time = "301 us" }' 'do = "stop-hart"' 'hart = 2' \
  '[[fault]]' 'at = { time = "302 us" }' 'do = "stop-hart"' 'hart = 3'
ends FLK0509 'do = "flip-register"' 'hart = 0' 'register = "pc"' 'bits = 0x100000'
has err 'kernel: exception' "the card's machine has ended at" 'with status 70'
goes_on 'do = "stop-hart"' 'hart = 1' 'cycles = 100000'
program=./calls
./calls >right
# Packets between host and card. Units send them again.
for class in message answer credit confirmation; do
  goes_on 'do = "drop-message"' "class = \"$class\"" 'packets = 3'
  goes_on 'do = "delay-message"' "class = \"$class\"" 'packets = 3' 'by = "100 us"'
  goes_on 'do = "repeat-message"' "class = \"$class\"" 'packets = 3' 'by = "2 us"'
done
# One thread, which the kernel hart has no part in: a hart waits for its message's confirmation before it answers.
cat >one.c <<'END'
#include <flick.h>
#include <stdio.h>
FLICK_NXP __attribute__((noinline)) static unsigned long step(unsigned long x) { return x * 3 + 1; }
int main(void) {
  unsigned long x = 0;
  for (int i = 0; i < 2000; i++)
    x = step(x);
  printf("%lu\n", x);
  return 0;
}
END
"$cc" -O1 one.c -o one
./one >right
program=./one
for by in 1 100; do
  goes_on 'do = "delay-message"' 'class = "confirmation"' 'from = "host"' 'packets = 10' "by = \"$by us\""
done
# A user hart, in the kernel's code: its thread's owner is told, or the hart executes exceptions without end.
ends FLK0509 'do = "flip-register"' 'hart = 1' 'register = "pc"' 'bits = 0x100000'
has err 'kernel: hart 1 is lost' 'a call of step: its hart has failed'
ends FLK0509 'do = "flip-register"' 'hart = 1' 'register = "mtvec"' 'bits = 0x40000000'
has err 'the card executes without end, and does not answer; a call of step waits for it'
# All of it at once.
ends FLK0509 'do = "reset"'
has err 'the card was reset at 300.000 us; a call of step waits for it'
program='./calls 8'
./calls 8 >right
# Queues that are full: who sends waits, and nothing is lost. A kernel that takes nothing for ten seconds has failed.
for queue in ring kernel; do
  for time in '10 us' '3 ms' '5 s'; do
    goes_on 'do = "fill-queue"' "queue = \"$queue\"" "for = \"$time\""
    fits=$(awk '/virtual time/ { print $2 }' report)
    [ "$time" != '5 s' ] || [ "$fits" = s ] || die "nobody has waited for the $queue: $(grep 'virtual time' report)"
  done
done
goes_on 'do = "fill-queue"' 'queue = "ring"' 'for = "100 s"'
ends FLK0509 'do = "fill-queue"' 'queue = "kernel"' 'for = "100 s"'
has err 'a call of step: its kernel takes no descriptors'
program=./calls
./calls >right
# Descriptors.
ends FLK0509 "$(corrupt version 4)"
has err 'the card has refused a call'
for wrong in 'kind 0xff00' 'tile 3' 'pc 0x800000000000' 'sp 8' 'sp 0x800000000000' 'address 0x800000000000' 'fcsr 0x100'; do
  ends FLK0509 "$(corrupt $wrong)"
done
ends FLK0509 "$(corrupt owner 1)"
ends FLK0509 "$(corrupt owner 0x10000)"
has err 'does not answer'
ends FLK0501 "$(corrupt pc 0x100000)"
ends FLK0501 "$(corrupt sp 0x400000000000)"
has err 'SIGSEGV in NxP code'
goes_on "$(corrupt process 1)"
# Mistakes in the file, and a file without a machine.
printf '[[fault]]\nat = { time = "1 ms" }\ndo = "stop-hart"\nhart = 77\n' >faults.toml
status 125 "$FLICK_TEST_FLICK" stat --machine card --inject faults.toml ./calls
has err '[FLK0408]' 'there is no hart 77'
status 2 "$FLICK_TEST_FLICK" stat --inject faults.toml ./calls
has err '--machine'

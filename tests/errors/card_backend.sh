# FLICK_BACKEND=card: what there is to say where there is no card, where it fails, and where it is full.
. "$FLICK_TEST_ERRORS/lib.sh"
program
card=$(dirname "$FLICK_TEST_FLICK")/../lib/flick/card/kernel-host.elf
export FLICK_BACKEND=card
refused() { # MACHINE WORDS...
  FLICK_MACHINE=$1 status 125 ./prog
  shift
  has err '[FLK0408]' "$@" 'flick explain FLK0408'
  [ ! -s out ] || die "main ran"
}
refused virt 'no tile of kind "host"'
refused nowhere 'no machine of this name'
refused ./missing.toml 'cannot be read'
FLICK_PLATFORM=near-memory refused card 'a timed run'
# A machine without a compiler for the card's harts has no kernel.
[ -e "$card" ] || exit 0
status 0 ./prog
has out 42
# The kernel hart alone: nobody executes the call.
machines=$FLICK_TEST_ERRORS/../../machines
sed '/^\[\[tile.hart\]\]$/,/^$/ { /name = "hart"/,/^$/d }' "$machines/card.toml" |
  awk '/^\[\[tile.hart\]\]$/ { held = $0; next } held != "" { if ($0 != "" && $0 !~ /^\[/) print held; held = "" } { print }' >alone.toml
FLICK_MACHINE=./alone.toml status 125 timeout 60 ./prog
has err '[FLK0509]' 'does not answer' 'flick explain FLK0509'
# More threads than slots.
cat >many.c <<'END'
#include <flick.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_barrier_t all;
FLICK_NXP __attribute__((noinline)) static int next(int x) { return x + 1; }
static void *call(void *argument) {
  (void)next(1);
  pthread_barrier_wait(&all);
  return argument;
}
int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 0;
  pthread_t thread;
  pthread_barrier_init(&all, NULL, (unsigned)threads);
  for (int i = 0; i < threads; i++)
    pthread_create(&thread, NULL, call, NULL);
  pthread_join(thread, NULL);
  return 0;
}
END
"$cc" -O1 many.c -o many -lpthread
status 0 timeout 60 ./many 200
status 125 timeout 60 ./many 240
has err '[FLK0510]' 'more than 224 threads' 'flick explain FLK0510'

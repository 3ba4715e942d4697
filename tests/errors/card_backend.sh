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
FLICK_CHECK=device refused card 'FLICK_CHECK=device'
# A machine without a compiler for the card's harts has no kernel.
[ -e "$card" ] || exit 0
status 0 ./prog
has out 42
# The kernel hart alone executes the call, too, if it has the instructions.
machines=$FLICK_TEST_ERRORS/../../machines
without() { # NAMES: the machine without these harts
  sed -E "/^\[\[tile.hart\]\]$/,/^$/ { /name = \"($1)\"/,/^$/d }" "$machines/card.toml" |
  awk '/^\[\[tile.hart\]\]$/ { held = $0; next } held != "" { if ($0 != "" && $0 !~ /^\[/) print held; held = "" } { print }'
}
without "hart|vector" >alone.toml
without "vector" >no-vectors.toml
FLICK_MACHINE=./alone.toml status 132 timeout 60 ./prog
has err 'no hart of the machine ./alone.toml has ' '[FLK0501]' 'SIGILL'
sed -i 's/^isa = "rv64gc_.*/isa = "rv64gc_zicntr_zihpm_sstc_svadu_zicond_zba_zbb_zbs"/' alone.toml
FLICK_MACHINE=./alone.toml status 0 timeout 60 ./prog
has out 42
# Vectors: a hart that has them executes them. No hart has them: SIGILL, and the reason.
cat >vectors.c <<'END'
#include <flick.h>
#include <stdio.h>
FLICK_NXP __attribute__((noinline)) static void add(float *restrict to, const float *restrict from, long n) {
  for (long i = 0; i < n; i++)
    to[i] += from[i];
}
int main(void) {
  float a[100], b[100];
  for (int i = 0; i < 100; i++)
    a[i] = (float)i, b[i] = 1;
  add(a, b, 100);
  printf("%g\n", (double)a[99]);
  return 0;
}
END
"$cc" -O2 --nxp-march=rv64gcv -Xnxp=-O3 vectors.c -o vectors
status 0 timeout 60 ./vectors
has out 100
FLICK_MACHINE=./no-vectors.toml status 132 timeout 60 ./vectors
has err 'no hart of the machine ./no-vectors.toml has ' '[FLK0501]' 'SIGILL'
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
status 0 timeout 60 ./many 1000
status 125 timeout 60 ./many 1040
has err '[FLK0510]' 'more than 1024 threads' 'flick explain FLK0510'

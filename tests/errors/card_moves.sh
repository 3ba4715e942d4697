# Activations that move to another tile for an instruction that no hart of their own has: what is said of
# it, how they come back, and where no hart has it.
. "$FLICK_TEST_ERRORS/lib.sh"
card=$(dirname "$FLICK_TEST_FLICK")/../lib/flick/card/kernel-host.elf
# A machine without a compiler for the card's harts has no kernel.
[ -e "$card" ] || exit 0
machines=$FLICK_TEST_ERRORS/../../machines
cat >prog.c <<'END'
#include <flick.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 256 };
static int hints;
static pthread_barrier_t turn; /* of the calls to the host: the threads are on the card at the same time */
FLICK_NXP __attribute__((noinline)) long mixed(int32_t *x, long n, long (*volatile host)(long)) {
  long sum = 0;
  if (hints)
    sum += flick_hint(FLICK_HINT_VECTORS);
  for (long turn = 0; turn < n; turn++) {
    for (long i = 0; i < N; i++)
      x[i] += (int32_t)i;
    sum += host(x[turn % N]);
  }
  return sum;
}
FLICK_NXP __attribute__((noinline)) uint64_t longer(int32_t *x, uint64_t n) {
  for (long i = 0; i < N; i++)
    x[i] += (int32_t)i;
  uint64_t hash = (uint64_t)x[N - 1];
  for (uint64_t i = 0; i < n; i++)
    hash = (hash ^ i) * 0x100000001b3;
  return hash;
}
/* Goes to a hart with vectors, and leaves it at once, unless it stays there. */
FLICK_NXP __attribute__((noinline)) long leaves(int32_t *x, long n, int stays) {
  long sum = flick_hint(stays ? FLICK_HINT_VECTORS : FLICK_HINT_GENERAL);
  for (long turn = 0; turn < n; turn++) {
    for (long i = 0; i < N; i++)
      x[i] += (int32_t)i;
    sum += stays ? 0 : flick_hint(FLICK_HINT_GENERAL);
  }
  return sum + x[N - 1];
}
static long host(long value) {
  pthread_barrier_wait(&turn);
  return value ^ 0x55;
}
static void *run(void *argument) {
  int32_t x[N] = {0};
  uint64_t n = *(uint64_t *)argument;
  return (void *)(uintptr_t)(n ? longer(x, n) : (uint64_t)mixed(x, 50, host));
}
int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 1;
  if (threads == 0) {
    int32_t x[N] = {0};
    printf("%ld\n", leaves(x, 200, argc > 2));
    return 0;
  }
  uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
  hints = argc > 3;
  pthread_barrier_init(&turn, NULL, (unsigned)threads);
  pthread_t all[64];
  for (int i = 0; i < threads; i++)
    pthread_create(&all[i], NULL, run, &n);
  for (int i = 0; i < threads; i++) {
    void *result;
    pthread_join(all[i], &result);
    printf("%lu\n", (unsigned long)(uintptr_t)result);
  }
  return 0;
}
END
"$cc" -O2 -g --nxp-march=rv64gcv -Xnxp=-O3 prog.c -o prog -lpthread
counted() { # MACHINE ARGUMENT...: as inline, and the summary is in err
  local machine=$1
  shift
  ./prog "$@" >inline
  status 0 timeout 60 "$FLICK_TEST_FLICK" stat --machine "$machine" ./prog "$@"
  cmp -s out inline || die "$* on $machine: $(cat out)"
}
# Instructions of functions on harts of a tile, and calls of the kernel's there.
functions() { # TILE
  awk -v tile="$1." 'index($3, tile) == 1 && $1 ~ /^[0-9,]+$/ { gsub(",", "", $2); n += $2 } END { print n + 0 }' err
}
moves() { # the migrations, all lines together
  awk '/migrations to harts/ { at = 1; next } at && $1 ~ /^[0-9,]+$/ { gsub(",", "", $1); n += $1 } END { print n + 0 }' err
}

# One thread: it moves once, and stays where its hart waits for its owner.
counted card-two
has err 'mixed  on storage.hart0: default' 'mixed  on compute.vector0: for an instruction' 'csrr vlenb (v)'
[ "$(moves)" = 1 ] || die "$(cat err)"
# Without others it stays with what needs no vectors, too.
counted card-two 1 30000000
[ "$(moves)" = 1 ] && [ "$(functions storage)" -lt 1000 ] || die "$(cat err)"

# One vector hart, and several threads. They wait for it, and leave it at the end of their slices for their
# own tile.
sed '/name = "vector"/,/^isa/s/^count = 3/count = 1/' "$machines/card-two.toml" >one.toml
counted ./one.toml 6
[ "$(moves)" -ge 6 ] || die "$(cat err)"
counted ./one.toml 4 60000000
[ "$(functions storage)" -gt 30000000 ] || die "they have not come back: $(cat err)"
[ "$(functions compute)" -gt 30000000 ] || die "they were sent away: $(cat err)"

# A hint saves what the summary says, and the threads stay. Where the tile lacks vectors they go to another.
kernel() { # instructions of the kernel, of all harts
  awk '/where NxP functions/ { at = 0 } at && NF > 2 { gsub(",", "", $1); n += $1 } / NxP functions  hart/ { at = 1 } END { print n + 0 }' err
}
saved() { # what the summary promises
  awk '/migrations to harts/ { at = 1; next } at && $1 ~ /^[0-9,]+$/ { gsub(",", "", $4); n += $4 } END { print n + 0 }' err
}
for machine in card card-two; do
  counted $machine 0
  [ "$(moves)" -ge 200 ] && grep -q '^ thrashing' err || die "$(cat err)"
  promise=$(saved) without=$(kernel)
  counted $machine 0 stays
  [ "$(moves)" = 0 ] || die "$(cat err)"
  # The promise is of the way there. The way back is saved, too.
  difference=$((without - $(kernel)))
  [ $difference -ge "$promise" ] && [ $difference -le $((3 * promise)) ] || die "$machine: $difference, not $promise"
done
# Threads that need the one hart in turns wait for it, and stay there.
counted card 6
[ "$(moves)" -ge 12 ] || die "$(cat err)"
counted card 6 0 hint
[ "$(moves)" = 0 ] || die "$(cat err)"
counted ./one.toml 6 0 hint
[ "$(moves)" = 0 ] || die "$(cat err)"
has err 'mixed  on compute.vector0: for an instruction'

# A tile with one hart, which is its kernel's, has vectors.
sed '/^name = "compute"/,$ { /name = "kernel"/,/^isa/ s/^isa = .*/isa = "rv64gcv_zicntr_zihpm_sstc_svadu_zicond_zba_zbb_zbs_zvl256b"/ }' \
  "$machines/card-two.toml" |
  awk '/^\[\[tile.hart\]\]$/ { held = $0; next } held != "" { skip = /name = "vector"/; if (!skip) print held; held = "" } /^$/ { skip = 0 } !skip' >alone.toml
[ "$(grep -c 'tile.hart' alone.toml)" = 3 ] || die "not the machine that is meant"
counted ./alone.toml
has err 'mixed  on compute.kernel: for an instruction'
counted ./alone.toml 4 60000000
[ "$(functions storage)" -gt 30000000 ] || die "they have not come back: $(cat err)"

# Vectors of another length are none for the program.
FLICK_BACKEND=card FLICK_MACHINE=card-two FLICK_VLEN=128 status 132 timeout 60 ./prog
has err '[FLK0501]' 'no hart of the machine card-two has csrr vlenb (v)'
# No hart has them.
sed 's/rv64gcv_/rv64gc_/; s/_zvl256b//' "$machines/card-two.toml" >plain.toml
FLICK_BACKEND=card FLICK_MACHINE=./plain.toml status 132 timeout 60 ./prog
has err '[FLK0501] SIGILL in NxP code at' 'no hart of the machine ./plain.toml has csrr vlenb (v)'
# A hart that stops with a guest ends the call, and the owner is told.
cat >faults.toml <<'END'
[[fault]]
at = { time = "3 ms" }
do = "stop-hart"
tile = "compute"
hart = 1
END
status 125 timeout 60 "$FLICK_TEST_FLICK" stat --machine card-two --inject faults.toml ./prog 1 100000000
has err '[FLK0509]'
# Timed runs have all instructions on each hart.
"$cc" -O2 --nxp-march=rv64gcv -Xnxp=-O3 --flick-timed prog.c -o timed -lpthread
FLICK_BACKEND=card FLICK_MACHINE=card-two FLICK_PLATFORM=flick-isca20 status 0 timeout 60 ./timed
exit 0

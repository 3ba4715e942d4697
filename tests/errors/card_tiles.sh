# Several tiles with harts on a card: names that a machine lacks, where functions run and why, how many
# descriptors that takes, and marks and lines of placement files that are wrong.
. "$FLICK_TEST_ERRORS/lib.sh"
card=$(dirname "$FLICK_TEST_FLICK")/../lib/flick/card/kernel-host.elf
cat >prog.c <<'END'
#include <flick.h>
#include <stdio.h>
#define ALONE __attribute__((noinline))
FLICK_NXP_ON("compute") ALONE long add(long x) { return x + 1; }
FLICK_NXP_ON("storage") ALONE long outer(long n) {
  long sum = 0;
  for (long i = 0; i < n; i++)
    sum += add(i);
  return sum;
}
FLICK_NXP ALONE long plain(long x) { return x * 2; }
ALONE long named(long x) { return x * 3; }
int main(int argc, char **argv) {
  const char *tile = argc > 1 ? argv[1] : "compute";
  long sum = outer(100) + plain(1) + named(1);
  if (flick_prefer(tile) != 0)
    perror(tile);
  printf("%ld\n", sum + plain(1));
  return 0;
}
END
echo 'nxp@compute named' >prog.place
"$cc" -O2 -g --flick-place=prog.place prog.c -o prog
status 0 ./prog
has out 5057
status 0 ./prog nowhere
has out 5057
[ ! -s err ] || die "inline takes any name"
status 0 "$FLICK_TEST_FLICK" place --explain prog
has out 'on the tile compute' 'on the tile storage' 'named at prog.place:1'

# What is wrong in a source or a placement file.
bad() { # CODE TEXT SOURCE...
  local code=$1 text=$2
  shift 2
  printf '#include <flick.h>\n%s\n' "$*" >bad.c
  status 1 "$cc" -c bad.c -o bad.o
  has err "[$code]" "$text"
}
bad FLK0201 'FLICK_NXP_ON("a") and FLICK_NXP_ON("b")' 'FLICK_NXP_ON("a") int f(int); FLICK_NXP_ON("b") int f(int x) { return x; }'
bad FLK0201 'FLICK_NXP_ON and FLICK_HOST' 'FLICK_NXP_ON("a") int f(int); FLICK_HOST int f(int x) { return x; }'
bad FLK0214 'without the name of a tile' 'FLICK_NXP_ON("") int f(int x) { return x; }'
bad FLK0214 "FLICK_NXP_ON marks the variable 'v'" 'FLICK_NXP_ON("a") int v;'
bad FLK0201 'FLICK_NXP_DATA_ON("a") and FLICK_NXP_DATA_ON("b")' 'FLICK_NXP_DATA_ON("a") extern int v; FLICK_NXP_DATA_ON("b") int v;'
bad FLK0214 "FLICK_NXP_DATA_ON marks 'v' without the name of a tile" 'FLICK_NXP_DATA_ON("") int v;'
bad FLK0214 "FLICK_NXP_DATA_ON marks the function 'f'" 'FLICK_NXP_DATA_ON("a") int f(int x) { return x; }'
bad FLK0214 "FLICK_NXP_DATA_ON cannot hold 'v': it is thread-local" 'FLICK_NXP_DATA_ON("a") _Thread_local int v;'
line() { # LINE TEXT
  echo "$1" >bad.place
  status 1 "$cc" -c --flick-place=bad.place prog.c -o bad.o
  has err '[FLK0209]' "$2"
}
line 'nxp@ named' "did you mean 'nxp named'?"
line 'host@storage named' "did you mean 'host named'?"
line 'NXP@storage named' "did you mean 'nxp@storage named'?"
line 'nxp @storage named' 'expected one pattern'

# A machine without a compiler for the card's harts has no kernel.
[ -e "$card" ] || exit 0
export FLICK_BACKEND=card
FLICK_MACHINE=card-two status 0 timeout 60 ./prog
has out 5057
FLICK_MACHINE=card-two status 0 timeout 60 ./prog nowhere
has out 5057
has err 'nowhere: No such file or directory'
# The machine `card` has one tile, of another name.
FLICK_MACHINE=card status 125 timeout 60 ./prog
has err '[FLK0512]' 'outer at prog.c:5' '"storage" by its mark' 'the machine card does not have; it has nxp' 'flick explain FLK0512'
# `override` puts marked functions elsewhere, by the file alone.
printf 'override\nnxp@nxp *\n' >one.place
"$cc" -O2 -g --flick-place=one.place prog.c -o one
FLICK_MACHINE=card status 0 timeout 60 ./one nxp
has out 5057
FLICK_MACHINE=card-two status 125 timeout 60 ./one
has err '[FLK0512]' '"nxp" by a placement file' 'it has storage, compute'
unset FLICK_BACKEND
# A call of another tile is a call by the host: 2 descriptors there, 2 back. 100 of them in `outer`, and four
# calls by main.
status 0 timeout 60 "$FLICK_TEST_FLICK" stat --machine card-two ./prog
has err '204 descriptors there, and 204 back' '100  add  on nxp, prog: marked in the source: on the tile compute'
# The kernel harts have no part in that, behind the first call on their tiles.
awk '$3 ~ /[.]kernel$/ && $1 ~ /^[0-9,]+$/ { gsub(",", "", $1); n++; if ($1 > 3000) exit 1 } END { exit n != 2 }' err ||
  die "$(cat err)"
has err 'outer  on storage.hart0: marked' 'add  on compute.vector0: marked' 'named  on compute.vector0: placement'
has err 'plain  on storage.hart0: default' 'plain  on compute.vector0: chosen at run time'
# Code of a tile stays in it. A function without a tile goes on where it is called.
cat >stays.c <<'END'
#include <flick.h>
#define ALONE __attribute__((noinline))
typedef long Function(long);
FLICK_NXP_ON("compute") ALONE long leaf(long x) { return x + 1; }
FLICK_NXP ALONE long anywhere(long x) { return x * 2; }
FLICK_NXP_ON("compute") ALONE long outer(Function *volatile f, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++)
    sum += leaf(i) + anywhere(i) + f(i);
  return sum;
}
int main(void) { return outer(leaf, 1000) + outer(anywhere, 1000) == 0; }
END
"$cc" -O2 stays.c -o stays
status 0 timeout 60 "$FLICK_TEST_FLICK" stat --machine card-two ./stays
has err ' 2 descriptors there, and 2 back' 'outer  on compute.vector0: marked'
# A tile with one hart beside one with several: each has its own kernel.
machines=$FLICK_TEST_ERRORS/../../machines
sed -E '/^\[\[tile.hart\]\]$/,/^$/ { /name = "hart"/,/^$/d }' "$machines/card-two.toml" |
  awk '/^\[\[tile.hart\]\]$/ { held = $0; next } held != "" { if ($0 != "" && $0 !~ /^\[/) print held; held = "" } { print }' |
  sed '0,/^isa = .*/s//isa = "rv64gc_zicntr_zihpm_sstc_svadu_zicond_zba_zbb_zbs"/' >uneven.toml
[ "$(grep -c 'tile.hart' uneven.toml)" = 3 ] || die "not the machine that is meant"
FLICK_BACKEND=card FLICK_MACHINE=./uneven.toml status 0 timeout 60 ./prog
has out 5057
# Sixteen tiles, with that of the host, and no more.
sed 's/^name = "storage"$/&\ncount = 15/' "$machines/card-two.toml" >many.toml
FLICK_BACKEND=card FLICK_MACHINE=./many.toml status 125 timeout 60 ./prog
has err '[FLK0408]' 'more than 16 tiles'
# A hart that stops ends the call that it runs, and the owner is told. One that runs nothing does not matter.
cat >faults.toml <<'END'
[[fault]]
at = { time = "600 us" }
do = "stop-hart"
tile = "compute"
hart = 1
END
status 125 timeout 60 "$FLICK_TEST_FLICK" stat --machine card-two --inject faults.toml ./prog
has err '[FLK0509]'
sed -i 's/compute/storage/; s/hart = 1/hart = 2/' faults.toml
status 0 timeout 60 "$FLICK_TEST_FLICK" stat --machine card-two --inject faults.toml ./prog
has out 5057
# Timed runs: the program is the same, on the machine's links.
"$cc" -O2 --flick-timed --flick-place=prog.place prog.c -o timed
FLICK_BACKEND=card FLICK_MACHINE=card-two FLICK_PLATFORM=flick-isca20 status 0 timeout 60 ./timed
has out 5057

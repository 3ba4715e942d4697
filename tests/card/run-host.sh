#!/bin/bash
# Programs of the host that reach accelerators, files and pipes of the card: flick_open and FLICK_ON.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/host
need kernel-host-root.elf file-server pipe-server servers
rm -rf "$work" && mkdir -p "$work"
cd "$work"

perl -e 'print pack("f<*", map { $_ % 2 ? 0 : 2 } 0 .. 511)' >kernel
head -c 1000000 /dev/zero >large
printf 'first lines\n' >first
tar --format=ustar -cf contents.tar first
verdict $? "an archive"
for name in streams many files requests; do
  "$flick_cc" -O2 -Wall -Wextra -Werror -pthread "$here/host/$name.c" -o $name -lm
  verdict $? "$name is compiled"
done

# A header's function, with its body in one of two units; they are linked in both orders.
for order in "units sums" "sums units"; do
  objects=()
  for unit in $order; do
    "$flick_cc" -O2 -Wall -Wextra -Werror -c "$here/host/$unit.c" -o "$unit.o" && objects+=("$unit.o")
  done
  "$flick_cc" "${objects[@]}" -o "${order// /-}"
  verdict $? "two units: $order"
done

export FLICK_MACHINE=card-accelerators
# A crossing blocks signals.
card() { # SECONDS PROGRAM ARGUMENT...
  FLICK_BACKEND=card FLICK_OFFLOAD=require timeout -s KILL "$1" "${@:2}"
}
good() { # NAME PROGRAM ARGUMENT...
  card 120 "${@:2}" >out 2>err
  local status=$?
  [ $status = 0 ] && grep -qx 'checks that fail: 0' out
  verdict $? "$1 (status $status): $(cat out err)"
}
good streams ./streams
good many ./many
good "many, with servers" env FLICK_CARD_FILES=- ./many
good files env FLICK_CARD_FILES=contents.tar ./files
good requests ./requests card
hash=$(grep hash: out)
for name in units-sums sums-units; do
  good "$name" ./$name card
  FLICK_BACKEND=inline timeout 60 ./$name >out 2>err && grep -qx 'checks that fail: 0' out
  verdict $? "$name without a card: $(cat out err)"
done
good "streams, counted" env FLICK_STATS=stats/record ./streams
mkdir -p stats
good "requests, counted" env FLICK_STATS=$work/stats/record ./requests card
[ -s stats/record ]
verdict $? "a record"

# Without such accelerators, without a root, and without a card: the same results.
for machine in card none; do
  case $machine in
  card) FLICK_MACHINE=card card 60 ./requests >out 2>err ;;
  *) FLICK_BACKEND=inline timeout 60 ./requests >out 2>err ;;
  esac
  [ "$(grep hash: out)" = "$hash" ] && grep -qx 'checks that fail: 0' out
  verdict $? "bodies of the program itself: $machine: $(cat out err)"
done
cat >no.c <<'END'
#include <flick.h>
#include <fcntl.h>
#include <stdio.h>
int main(void) {
  int number = flick_open("card:/fft", O_RDWR);
  printf("%d, %m: %s\n", number, flick_error());
  return 0;
}
END
"$flick_cc" -O2 no.c -o no
says() { # NAME TEXT: what the last program has printed
  grep -qF -- "$2" out
  verdict $? "$1: $(cat out err)"
}
FLICK_BACKEND=inline timeout 60 ./no >out 2>err
says "no card" '-1, No such device: card:/fft: there is no card (FLICK_BACKEND=card)'
FLICK_MACHINE=card card 60 ./no >out 2>err
says "no root" "-1, Function not implemented: card:/fft: the card's machine has no root"
FLICK_CARD_FILES=none.tar card 60 ./no >out 2>&1
says "no archive" 'none.tar cannot be read: No such file or directory'
FLICK_MACHINE=card FLICK_CARD_FILES=- card 60 ./no >out 2>&1
says "no root for servers" 'the machine card has no root, and no servers of files (FLICK_CARD_FILES)'
# Erased marks: another compiler.
clang-19 -O2 -I"$root/include" no.c -o plain && ./plain >out 2>err
says "another compiler" '-1, No such device: the program was not compiled by flick'

# A tile dies in each state. The program gets what was computed, and an error.
cat >dies.c <<'END'
#include "check.h"
#include <fcntl.h>
#include <signal.h>
static char blocks[8 << 11];
int main(void) {
  signal(SIGPIPE, SIG_IGN);
  int number = opened("card:/fft|mul?kernel=kernel|ifft", O_RDWR);
  size_t got = 0;
  for (int n = 0; n < 8 && !write_all(number, blocks, 2048); n++)
    got += read_all(number, blocks, 2048);
  shutdown(number, SHUT_WR);
  got += read_all(number, blocks, sizeof blocks);
  int failed = flick_close(number);
  printf("%zu bytes, %s\n", got, failed ? flick_error() : "good");
  return 0;
}
END
"$flick_cc" -O2 -I"$here/host" dies.c -o dies
verdict $? "dies is compiled"
for tile in fft mul ifft; do
  for state in asks reads computes writes; do
    printf '[[fault]]\nat = { tile = "%s", state = "%s", times = 3 }\ndo = "stop-tile"\ntile = "%s"\n' $tile $state $tile >fault.toml
    FLICK_INJECT=./fault.toml card 60 ./dies >out 2>err
    # Stages behind the first one get their input, and read nothing.
    grep -qE "bytes, (card:/fft\|mul\?kernel=kernel\|ifft: $tile: Input/output error|.*Owner died)$" out ||
      { [ $state = reads ] && [ $tile != fft ] && grep -qx '16384 bytes, good' out; }
    verdict $? "$tile dies when it $state: $(cat out err)"
  done
done
cat >request_dies.c <<'END'
#include "check.h"
FLICK_ON("vector-sum") int add(const double *a, size_t as, const double *b, size_t bs, double *sums, size_t size);
FLICK_ON("vector-sum") void add_or_end(const double *a, size_t as, const double *b, size_t bs, double *sums, size_t size);
static double a[512], sums[512];
int main(int argc, char **argv) {
  (void)argv;
  for (int n = 0; argc == 1 && n < 2; n++)
    printf("%s\n", strerror(add(a, sizeof a, a, sizeof a, sums, sizeof sums)));
  fflush(stdout);
  if (argc > 1)
    add_or_end(a, sizeof a, a, sizeof a, sums, sizeof sums);
  return 0;
}
END
"$flick_cc" -O2 -I"$here/host" request_dies.c -o request_dies
verdict $? "request_dies is compiled"
printf '[[fault]]\nat = { tile = "vector-sum", state = "computes", times = 30 }\ndo = "stop-tile"\ntile = "vector-sum"\n' >fault.toml
FLICK_INJECT=./fault.toml card 60 ./request_dies >out 2>err
# The tile is lost for the next call, too.
head -n 1 out | grep -qx 'Input/output error' && tail -n 1 out | grep -qxE 'Input/output error|Owner died'
verdict $? "an accelerator of requests dies: $(cat out err)"
FLICK_INJECT=./fault.toml card 60 ./request_dies end >out 2>err
[ $? = 125 ] && grep -q '\[FLK0513\] add_or_end: accelerator vector-sum: its tile: Input/output error' err
verdict $? "one without a result ends the program: $(cat out err)"
conclude

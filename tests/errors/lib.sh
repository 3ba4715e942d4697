# Helpers for the scripts of this folder, which run with `bash -eu` in an empty directory.
cc=$FLICK_TEST_CC
flick=$FLICK_TEST_FLICK
export CPATH=$FLICK_TEST_INCLUDE

die() {
  echo "$*"
  exit 1
}
# The machine cannot show what the script tests.
skip() {
  echo "$*"
  exit 77
}
# has FILE TEXT...: the file contains each text.
has() {
  local file=$1 text
  shift
  for text in "$@"; do
    grep -qF -- "$text" "$file" || die "$(cat "$file")" $'\n'"--- does not contain: $text"
  done
}
# status N COMMAND...: exactly this exit status; output in `out` and `err`.
status() {
  local want=$1 got=0
  shift
  "$@" >out 2>err || got=$?
  [ $got = "$want" ] || die "exit status $got, not $want: $*" $'\n'"$(cat out err)"
}
# refuses CODE [TEXT...] -- COMMAND...: it fails by itself, with this code and these texts; says so.
refuses() {
  local texts=("[$1]") code=$1 got=0
  shift
  while [ "$1" != -- ]; do
    texts+=("$1")
    shift
  done
  shift
  "$@" >out 2>err || got=$?
  [ $got != 0 ] || die "not refused: $*" $'\n'"$(cat out err)"
  [ $got -lt 126 ] || die "died with status $got: $*" $'\n'"$(cat out err)"
  has err "${texts[@]}"
  ! grep -F -e 'panicked at' -e 'Stack dump' err || die "a tool crashed: $*"
  echo "refused: [$code]"
}
# section FILE NAME: its offset and size in the file, in decimal.
section() {
  local line
  line=$(readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' | awk -v name="$2" '$1 == name { print $4, $5 }')
  [ -n "$line" ] || die "$1 has no section $2"
  printf '%d %d\n' $((16#${line% *})) $((16#${line#* }))
}
# put FILE OFFSET BYTES: overwrites, BYTES as printf's format.
put() {
  printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
# flip FILE OFFSET: inverts a byte.
flip() {
  local byte
  byte=$(od -An -tu1 -j "$2" -N 1 "$1")
  put "$1" "$2" "\\x$(printf %02x $((byte ^ 255)))"
}

# A fat object and a plain one; the program prints `42`.
two_objects() {
  cat >part.c <<'C'
#include <flick.h>
int table[4] = {40, 1, 1, 0};
FLICK_NXP int sum(const int *numbers, int n) {
  int total = 0;
  for (int i = 0; i < n; i++)
    total += numbers[i];
  return total;
}
C
  cat >main.c <<'C'
#include <stdio.h>
int sum(const int *numbers, int n);
extern int table[];
int main(void) {
  printf("%d\n", sum(table, 4));
  return 0;
}
C
  "$cc" -g -c part.c -o part.o
  clang-19 -g -c main.c -o main.o
}
# The same, linked to `prog`.
program() {
  two_objects
  "$cc" main.o part.o -o prog
}

# `flick verify`: a program or library as the link has made it is right, however it was linked; a
# changed byte of the translation, its tables, the image or a stamp is named with its place.
. "$FLICK_TEST_ERRORS/lib.sh"
two_objects
cat >more.c <<'C'
#include <flick.h>
#include <stdio.h>
FLICK_HOST __attribute__((noinline)) void say(int n) { printf("%d\n", n); }
FLICK_NXP int calls(const int *numbers, int n) {
  for (int i = 0; i < n; i++)
    say(numbers[i]);
  return numbers[0];
}
C
"$cc" -fPIC -c more.c -o more.o
for linker in lld bfd; do
  for options in '' -static -no-pie -static-pie '-Wl,-z,pack-relative-relocs' '-Wl,--gc-sections' -g; do
    "$cc" -fuse-ld=$linker $options main.c part.c more.o -o prog
    status 0 "$flick" verify prog
    has out 'prog: 2 functions, ' ' bytes of x86-64 code, ' ' displacements: as this flick makes them'
    strip prog
    status 0 "$flick" verify prog
    has out 'as this flick makes them'
  done
  "$cc" -fuse-ld=$linker -shared -fPIC part.c more.o -o libpart.so
  status 0 "$flick" verify libpart.so
  has out 'libpart.so: 2 functions, '
done
"$cc" --flick-translate=run main.c part.c more.o -o none
"$cc" -no-pie main.c part.c more.o -o prog
status 0 "$flick" verify none prog
has out 'none: no translation' 'prog: 2 functions'

# place ADDRESS: where the byte at an address is in the file.
place() {
  readelf -SW prog | sed -n 's/^ *\[ *[0-9]*\] *//p' | while read -r _ type start at size _; do
    [ "$type" = PROGBITS ] || continue
    from=$(($1 - 16#$start))
    if [ $from -ge 0 ] && [ $from -lt $((16#$size)) ]; then echo $((16#$at + from)); fi
  done | head -n 1
}
# word OFFSET: the 64-bit number there in the file.
word() { od -An -tu8 -j "$1" -N 8 prog | tr -d ' '; }
module=$(place $((16#$(nm prog | awk '$3 == "__flick_module" { print $1 }'))))
image=$(place "$(word $((module + 16)))")
record=$(place "$(word $((module + 240)))")
code=$(place "$(word $((record + 16)))")
pieces=$(place "$(word $((record + 32)))")
states=$(place "$(word $((record + 48)))")
entries=$(place "$(word $((record + 80)))")
calls=$(place $((16#$(nm prog | awk '$3 == "calls.nxp" { print $1 }'))))
# damaged OFFSET CODE TEXT...: with the byte there inverted, `flick verify` says so.
damaged() {
  local offset=$1 code=$2
  shift 2
  cp prog bad && flip bad "$offset"
  refuses "$code" bad "$@" -- "$flick" verify bad
  [ ! -s out ] || die "it is right and wrong" "$(cat out)"
}
damaged "$calls" FLK0311 'calls.nxp+0x0 (code 0x'
damaged "$code" FLK0311 '(code 0x0, address 0x'
damaged "$pieces" FLK0311 'piece 0 (0x'
damaged $((pieces + 16)) FLK0311 'the piece of sum (0x'
damaged "$entries" FLK0311 'entry 0 (0x'
damaged "$states" FLK0311 'the records of registers of sum (0x'
damaged "$image" FLK0308 'offset 0x0 (no function, address 0x'
damaged $((module + 136)) FLK0308 'the record of its module (0x' 'has the stamp'
damaged "$module" FLK0308 'does not begin with its mark'
damaged "$record" FLK0311 'says that it is for runtimes with number'
damaged $((record + 5)) FLK0311 'bytes'
damaged $((record + 8)) FLK0311 'of another image'
damaged $((record + 24)) FLK0311 'this flick makes'
damaged $((record + 64)) FLK0311 'cell'
damaged $((record + 96)) FLK0311 'the stamp of its contents is'
# A displacement: the call of `say` goes through a cell or a word of the image, by `lea` or `jmp`.
address=$((16#$(nm prog | awk '$3 == "calls.nxp" { print $1 }')))
line=$(objdump -d --no-show-raw-insn --disassemble=calls.nxp prog | grep -m1 'lea .*(%rip)')
next=$(objdump -d --no-show-raw-insn --disassemble=calls.nxp prog | grep -m1 -A1 'lea .*(%rip)' | tail -n 1)
next=$((16#$(sed 's/^ *\([0-9a-f]*\):.*/\1/' <<<"$next")))
[ -n "$line" ] || die "no displacement"
damaged $((calls + next - address - 4)) FLK0311 'calls.nxp+0x' ' leads to 0x' 'of the image'
# The gate of a function.
gates=$(place "$(word $((module + 96)))")
gate=$gates
while [ "$(od -An -tu4 -j $((gate + 48)) -N 4 prog | tr -d ' ')" = 0 ]; do gate=$((gate + 64)); done
damaged $((gate + 56)) FLK0311 'the gate of '
# One file of several.
cp prog bad && flip bad "$calls"
status 1 "$flick" verify prog bad none
has out 'prog: 2 functions' 'none: no translation'
has err 'bad: calls.nxp+0x0' 'help: link it again'

# A translation of another version, which has another stamp: its bytes are not compared.
cp prog other && flip other "$calls" && flip other $((record + 96))
status 0 "$flick" verify other
has out 'another version of flick made them, so their bytes are not compared'
flip other "$pieces"
refuses FLK0311 'piece 0 (0x' -- "$flick" verify other

# What is no such file.
refuses FLK0307 part.o -- "$flick" verify part.o
refuses FLK0304 main.c -- "$flick" verify main.c
refuses FLK0105 nosuch -- "$flick" verify nosuch
head -c $(($(stat -c %s prog) / 2)) prog >cut
refuses FLK0308 cut -- "$flick" verify cut
# Wherever a byte changes, the tool ends by itself.
for at in $(seq 0 $(($(stat -c %s prog) / 150)) $(($(stat -c %s prog) - 1))) \
  $(seq "$record" 3 $((record + 127))) $(seq "$module" 7 $((module + 247))); do
  cp prog bad && flip bad "$at"
  got=0
  timeout 20 "$flick" verify bad >out 2>err || got=$?
  [ $got -lt 2 ] || die "status $got with byte $at changed" "$(cat err)"
  ! grep -F -e 'panicked at' -e 'Stack dump' err || die "a tool crashed with byte $at changed"
done
# The table of leaves, which code without optimisation has not.
"$cc" -O1 -no-pie main.c part.c -o prog
module=$(place $((16#$(nm prog | awk '$3 == "__flick_module" { print $1 }'))))
record=$(place "$(word $((module + 240)))")
[ "$(word $((record + 120)))" = 1 ] || die "sum is no leaf"
damaged "$(place "$(word $((record + 112)))")" FLK0311 'table of leaves' 'its 1 leaves are not the 1'
damaged $((record + 120)) FLK0311 'its 254 leaves are not the 1'

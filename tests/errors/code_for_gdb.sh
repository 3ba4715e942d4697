# FLICK_GDB=on where gdb gets no code of the program: a warning says why, and the program runs.
. "$FLICK_TEST_ERRORS/lib.sh"
two_objects
"$cc" --flick-translate=run main.o part.o -o prog
says() { # REASON COMMAND...
  local reason=$1
  shift
  FLICK_GDB=on status 0 "$@"
  has out 42
  [ -z "$reason" ] || has err '[FLK0407]' "$reason" 'flick explain FLK0407'
  [ -n "$reason" ] || [ ! -s err ] || die "$(cat err)"
}
says '' ./prog
says 'NxP code is interpreted' env FLICK_ENGINE=interp ./prog
says 'its instructions are counted' env "FLICK_STATS=$PWD/stats" ./prog
# The file's RV64 code is not there, or is another program's.
llvm-strip-19 -o stripped prog
says 'was stripped' ./stripped
read -r offset size < <(section prog .flick.elf)
cp prog other
flip other "$offset"
says 'the RV64 code in its file is damaged' ./other
llvm-objcopy-19 --dump-section .flick.elf=image.elf prog /dev/null
code=$(readelf -lW image.elf | awk '$1 == "LOAD" && / R E / { print $2 }')
cp prog changed
flip changed $((offset + code))
says 'its file has changed' ./changed
# Whatever is damaged in it, the program runs.
for ((at = 0; at < size; at += 61)); do
  cp prog damaged
  flip damaged $((offset + at))
  FLICK_GDB=on status 0 ./damaged
  has out 42
done
# libflick stands alone, or beside a library that is none.
mkdir alone
cp "$(dirname "$(dirname "$flick")")"/lib/flick/libflick.so.1 alone/
says 'libflick-debug.so cannot be loaded' env "LD_LIBRARY_PATH=$PWD/alone" ./prog
echo nothing >alone/libflick-debug.so
says 'libflick-debug.so cannot be loaded' env "LD_LIBRARY_PATH=$PWD/alone" ./prog
echo 'int unrelated;' >unrelated.c
clang-19 -shared unrelated.c -o alone/libflick-debug.so
says 'is of another version' env "LD_LIBRARY_PATH=$PWD/alone" ./prog
# Who did not ask is not told.
FLICK_ENGINE=interp status 0 ./prog
[ ! -s err ] || die "$(cat err)"

# A fat object that was cut off: by a full disk (anywhere), or only its NxP part.
. "$FLICK_TEST_ERRORS/lib.sh"
two_objects
size=$(stat -c %s part.o)
for keep in 70 $((size / 4)) $((size / 2)) $((size - 200)) $((size - 1)); do
  head -c "$keep" part.o >cut.o
  refuses FLK0302 cut.o -- "$cc" main.o cut.o -o prog
done
objcopy -O binary --only-section=.flick.nxp --set-section-flags .flick.nxp=alloc part.o nxp.bin
for keep in 7 20 33 500 $(($(stat -c %s nxp.bin) - 1)); do
  head -c "$keep" nxp.bin >cut.bin
  objcopy --update-section .flick.nxp=cut.bin part.o cut.o
  refuses FLK0302 cut.o -- "$cc" main.o cut.o -o prog
done
[ ! -e prog ] || die "a program was left behind"

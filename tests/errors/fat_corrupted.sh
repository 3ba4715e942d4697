# Bytes inside the NxP part of a fat object changed: 40 places, header and payload, alone and in an
# archive.
. "$FLICK_TEST_ERRORS/lib.sh"
two_objects
read -r offset size < <(section part.o .flick.nxp)
for at in 0 3 12 16 20 24 31 $(seq 40 $((size / 33)) $((size - 1))); do
  cp part.o bad.o
  flip bad.o $((offset + at))
  refuses FLK0302 bad.o -- "$cc" main.o bad.o -o prog
done
ar rcs libbad.a bad.o
refuses FLK0302 bad.o -- "$cc" main.o libbad.a -o prog

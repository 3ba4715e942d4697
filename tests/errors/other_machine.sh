# ELF files for other machines among the inputs, and given to the tools that look into files.
. "$FLICK_TEST_ERRORS/lib.sh"
two_objects
echo 'int sum(const int *numbers, int n) { return numbers[n - 1]; }' >other.c
for target in aarch64-linux-gnu riscv64-linux-gnu i386-linux-gnu powerpc64-linux-gnu; do
  clang-19 --target=$target -c other.c -o $target.o
  refuses FLK0304 $target.o -- "$cc" main.c part.o $target.o -o prog
  refuses FLK0304 $target.o -- "$flick" objdump -d $target.o
  refuses FLK0304 $target.o -- "$flick" place --explain $target.o
done
# A fat object whose NxP part is not RV64.
read -r offset size < <(section part.o .flick.nxp)
objcopy -O binary --only-section=.flick.nxp --set-section-flags .flick.nxp=alloc part.o nxp.bin
cmp -s -n 4 <(printf '\177ELF') <(tail -c +33 nxp.bin) || die "the payload is not where it was"

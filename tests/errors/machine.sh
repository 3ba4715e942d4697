# A machine that cannot be made, cannot start, or does not end: an error with the next step each.
. "$FLICK_TEST_ERRORS/lib.sh"
cat >bare.c <<'C'
void _start(void) {
#ifdef WAITS
  for (;;)
    __asm__ volatile("wfi");
#elif defined GOES_ON
  for (;;)
    ;
#else
  *(volatile unsigned *)0x100000 = 3 << 16 | 0x3333;
#endif
}
C
bare() {
  clang-19 --target=riscv64-unknown-elf -march=rv64gc -O1 -ffreestanding -nostdlib -fuse-ld=lld \
    -Wl,--image-base=0x80000000 "$@" || die 'clang does not build a bare program'
}
run() {
  "$flick" machine run "$@" </dev/null
}
bare bare.c -o ends
bare -DWAITS bare.c -o waits
bare -DGOES_ON bare.c -o goes-on
bare -Wl,--image-base=0x10000 bare.c -o elsewhere
status 3 run --firmware ends
status 3 run --firmware ends --set harts=4 --set memory=16M --set isa=rv64imac
for setting in harts=0 harts=many memory=1X memory=4097 isa=rv32i isa=rv64imq isa=rv64imd cores=2 harts; do
  status 1 run --firmware ends --set "$setting"
  has err '[FLK060' 'help: '
done
status 1 run --firmware ends --set harts=0
has err '[FLK0601] a setting of the machine is bad: harts=0' '0 is not in the range 1 to 512'
status 1 run --firmware ends --set tile.board.clok=1GHz
has err '[FLK0601]' '`tile.clok` is not known' "did you mean 'clock'"
status 1 run --firmware ends --set tile.board.hart.0.isa=rv64gcq
has err '[FLK0601]' 'no extension "q"'
status 1 run --firmware elsewhere
has err '[FLK0602] the machine cannot start: elsewhere' "are not in the machine's memory" 'help: '
head -c 200 ends >cut
status 1 run --firmware cut
has err '[FLK0602]' 'it is damaged'
status 1 run --firmware /bin/true
has err '[FLK0602]' 'it is an ELF file, but not for RV64'
head -c 5000000 /dev/zero >large
status 1 run --firmware ends --kernel large --initrd large --set memory=8M
has err '[FLK0602]' 'is too small for its initial RAM disk' '--set memory=1G'
status 1 run --firmware missing
has err '[FLK0105]' missing
status 1 run --firmware ends --disk missing
has err '[FLK0105]' missing
status 1 run --firmware waits
has err '[FLK0603]' 'every hart waits for an interrupt' 'tohost'
status 1 run --firmware goes-on --max-instructions 1000
has err '[FLK0603]' 'instructions have completed, and harts are at 0x800' '--max-instructions'
for code in FLK0601 FLK0602 FLK0603; do
  status 0 "$flick" explain $code
done

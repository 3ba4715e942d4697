# Files of faults that are wrong, or about what the machine lacks: an error with the next step each.
. "$FLICK_TEST_ERRORS/lib.sh"
cat >bare.c <<'C'
void _start(void) {
  for (long n = 0; n < 100000; n++)
    __asm__ volatile("");
  *(volatile unsigned *)0x100000 = 3 << 16 | 0x3333;
}
C
clang-19 --target=riscv64-unknown-elf -march=rv64gc -O1 -ffreestanding -nostdlib -fuse-ld=lld \
  -Wl,--image-base=0x80000000 bare.c -o bare || die 'clang does not build a bare program'
run() {
  printf '%s\n' '[[fault]]' "$@" >faults.toml
  "$flick" machine run --firmware bare --set harts=1 --inject faults.toml </dev/null
}
at='at = { time = "10 us" }'
status 3 run "$at" 'do = "corrupt-input"' 'bits = 1'
status 1 run "$at" 'do = "stop-hart"' 'hart = 0'
has err '[FLK0603]' 'every hart waits'
status 1 run "$at" 'do = "stop-hart"' 'hart = 1'
has err '[FLK0630] a file of faults cannot be used: faults.toml:4' 'there is no hart 1' 'help: '
status 1 run "$at" 'do = "stop-hat"' 'hart = 0'
has err '[FLK0630]' 'faults.toml:3' "did you mean 'stop-hart'"
status 1 run "$at" 'do = "corrupt-message"'
has err '[FLK0630]' 'faults.toml:3' 'is a fault to come'
status 1 run "$at" 'do = "drop-message"'
has err '[FLK0630]' 'faults.toml:3' 'no packets pass between tiles here' 'mppa256'
status 1 run "$at" 'do = "fill-queue"' 'queue = "ring"' 'for = "1 ms"'
has err '[FLK0630]' 'faults.toml:1' 'no program of the host has functions here'
# A reset: the machine starts again, and its program, too.
sed -i 's/^void _start(void) {$/&\n  *(volatile char *)0x10000000 = 65;/' bare.c
clang-19 --target=riscv64-unknown-elf -march=rv64gc -O1 -ffreestanding -nostdlib -fuse-ld=lld \
  -Wl,--image-base=0x80000000 bare.c -o bare || die 'clang does not build a bare program'
status 3 run "$at" 'do = "corrupt-input"' 'bits = 1'
[ "$(cat out)" = A ] || die "not once: $(cat out)"
status 3 run "$at" 'do = "reset"'
[ "$(cat out)" = AA ] || die "not twice: $(cat out)"
status 1 run 'do = "drop-request"'
has err '[FLK0630]' '`fault.at` is missing'
status 1 "$flick" machine run --firmware bare --inject missing
has err '[FLK0105]' missing
status 1 "$flick" machine run --firmware bare --semihosting --semihosting-files missing
has err '[FLK0105]' missing
status 0 "$flick" explain FLK0630

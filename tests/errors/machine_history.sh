# Snapshots and recordings that are damaged, foreign or of another run: an error with the next step each.
. "$FLICK_TEST_ERRORS/lib.sh"
cat >echo.c <<'C'
__attribute__((naked)) void _start(void) { __asm__ volatile("la sp, stack + 4096\n j echo"); }
char stack[4096];
void echo(void) {
  volatile unsigned char *uart = (volatile unsigned char *)0x10000000;
  for (volatile int wait = 0; wait < 1000; wait++)
    ;
  for (unsigned char c = 0; c != '!';) {
    while (!(uart[5] & 1))
      ;
    *uart = c = *uart;
  }
  *(volatile unsigned *)0x100000 = 0x5555;
}
C
clang-19 --target=riscv64-unknown-elf -march=rv64gc -O1 -ffreestanding -nostdlib -fuse-ld=lld \
  -Wl,--image-base=0x80000000 echo.c -o echo || die 'clang does not build a bare program'
run() {
  "$flick" machine run --firmware echo "$@"
}
printf 'hello!' >input
status 0 run --record keys --snapshot-at 100ns --snapshot saved <input
has out 'hello!'
status 0 run --replay keys </dev/null
has out 'hello!'
status 0 run --restore saved <input
for option in --restore --replay; do
  status 1 run $option missing
  has err '[FLK0105]' missing
  status 1 run $option echo
  has err 'it is no ' 'help: '
done
head -c 500 saved >cut
status 1 run --restore cut
has err '[FLK0611] a snapshot is unusable: cut: its end is missing' 'help: '
{ head -c 500 saved && printf changed && tail -c +508 saved; } >changed
status 1 run --restore changed
has err '[FLK0611]' 'its bytes have changed since it was written'
status 1 run --restore saved --set harts=2
has err '[FLK0611]' 'it is of another machine'
status 1 run --restore saved --append quiet --kernel echo
has err '[FLK0611]' 'it is of other programs, disks, faults or semihosting'
status 1 run --snapshot-at 1000s <input
has err '[FLK0611] a snapshot is unusable: machine.snapshot: the machine has ended before' '--snapshot-at'
status 1 run --snapshot-at 1h
has err '[FLK0601]' '--snapshot-at 1h' 'it is no cycle and no virtual time'
status 1 run --snapshot-at 100ns --snapshot /missing/saved <input
has err '[FLK0105]' /missing/saved
head -c 56 keys >cut
status 1 run --replay cut
has err '[FLK0612] a recording is unusable: cut: the end of record 1 is missing' 'help: '
status 1 run --replay keys --set memory=64M
has err '[FLK0612]' 'it is of another machine'
status 1 run --replay keys --restore saved
has err '[FLK0612]' 'it begins at another time'
status 1 run --gdb unix:echo
has err '[FLK0613] no debugger can connect: --gdb' 'echo cannot be served: ' 'help: '
status 2 run --gdb name
has err 'it is neither a port nor unix:PATH'
# In timed mode, with faults, and with a file that the program has open.
status 0 run --timed --snapshot-at 300ns --snapshot timed <input
status 0 run --timed --restore timed <input
status 1 run --timed=never --restore timed
has err '[FLK0611]' 'it is of another machine'
printf '%s\n' '[[fault]]' 'at = { time = "1 us" }' 'do = "corrupt-input"' 'bits = 1' 'bytes = 5' >faults.toml
# The input comes behind the fault.
status 0 run --inject faults.toml --snapshot-at 100ns --snapshot faulty < <(sleep 0.3 && cat input)
has out 'idmmn!'
status 0 run --inject faults.toml --restore faulty < <(sleep 0.3 && cat input)
has out 'idmmn!'
status 1 run --restore faulty
has err '[FLK0611]' 'it is of other programs, disks, faults or semihosting'
cat >copy.c <<'C'
static long call(long number, const void *argument) {
  register long a0 __asm__("a0") = number;
  register const void *a1 __asm__("a1") = argument;
  __asm__ volatile(".balign 16\n.option push\n.option norvc\n slli x0, x0, 0x1f\n ebreak\n srai x0, x0, 7\n.option pop"
                   : "+r"(a0) : "r"(a1) : "memory");
  return a0;
}
__attribute__((naked)) void _start(void) { __asm__ volatile("la sp, stack + 4096\n j copy"); }
char stack[4096];
void copy(void) {
  char c[2] = {0};
  long file[] = {(long)"name", 0, 4}, part[] = {0, (long)c, 1};
  part[0] = call(1, file);
  for (int n = 0; n < 3; n++) {
    for (volatile int wait = 0; wait < 1000; wait++)
      ;
    call(6, part);
    call(4, c);
  }
  long status[] = {0x20026, 0};
  call(0x20, status);
}
C
clang-19 --target=riscv64-unknown-elf -march=rv64gc -O1 -ffreestanding -nostdlib -fuse-ld=lld \
  -mcmodel=medany -Wl,--image-base=0x80000000 copy.c -o copy || die 'clang does not build a bare program'
mkdir files
printf xyz >files/name
with_files() {
  "$flick" machine run --firmware copy --set harts=1 --semihosting --semihosting-files files "$@" </dev/null
}
status 0 with_files --record answers --snapshot-at 9us --snapshot half
has out xyz
status 0 with_files --restore half
has out yz
rm files/name
status 1 with_files --restore half
has err '[FLK0611] a snapshot is unusable: half: the program has the file `name` open' 'No such file' 'help: '
status 0 with_files --replay answers
has out xyz
status 1 "$flick" machine run --firmware copy --set harts=1 --restore half
has err '[FLK0611]' 'it is of other programs, disks, faults or semihosting'
for code in FLK0611 FLK0612 FLK0613; do
  status 0 "$flick" explain $code
done

# Machines of several tiles: console, report, trace, snapshots, faults and debugger name a tile's harts.
. "$FLICK_TEST_ERRORS/lib.sh"
cat >letters.c <<'C'
__attribute__((naked)) void _start(void) {
  __asm__ volatile("csrr a0, mhartid\n bnez a0, 1f\n la sp, stack + 4096\n j letters\n1: wfi\n j 1b");
}
char stack[4096];
void letters(void) {
  volatile unsigned long *unit = (volatile unsigned long *)0xf0000000;
  unsigned long tile = unit[0x48 / 8] >> 48;
  for (int letter = 0; letter < 2; letter++) {
    for (volatile unsigned wait = 0; wait < 300 + 1000 * letter + 300 * tile; wait++)
      ;
    *(volatile unsigned char *)0x10000000 = 'A' + tile;
  }
  if (tile == 3)
    *(volatile unsigned *)0x100000 = 5 << 16 | 0x3333;
  for (;;)
    __asm__ volatile("wfi");
}
C
clang-19 --target=riscv64-unknown-elf -march=rv64imafdc -O1 -ffreestanding -nostdlib -fuse-ld=lld \
  -Wl,--image-base=0x80000000 letters.c -o letters || die 'clang does not build a bare program'
four='--machine mppa256 --set tile.cluster.count=4 --set link.noc.columns=2'
run() {
  command=$1
  shift
  "$flick" machine "$command" $four --firmware letters "$@" </dev/null
}
status 5 run run
cp out printed
[ "$(cat printed | tr -d '\n' | fold -w1 | sort | tr -d '\n')" = AABBCCDD ] || die "$(cat out)"
status 5 run stat --timed
has err 'Machine mppa256, 64 harts' 'cluster0.kernel' 'cluster3.user14, timed' 'noc '

# A run goes on from a snapshot, and only on the same tiles.
status 5 run run --snapshot-at 10us --snapshot saved --trace states
status 5 run run --restore saved
tail -c 3 printed >expected
tail -c 3 out | cmp -s - expected || die "$(cat out)"
grep -aq 'cluster2.user7' states || die 'the trace does not name the harts'
status 1 run run --restore saved --set tile.cluster.count=2
has err '[FLK0611]' 'another machine' 'help: '

# Faults name a tile's hart.
fault() {
  printf '[[fault]]\nat = { time = "1 us" }\ndo = "stop-hart"\ntile = "%s"\nhart = %s\n' "$@" >faults.toml
}
fault cluster1 0
status 5 run run --inject faults.toml
! grep -q B out || die "$(cat out)"
fault cluster9 0
status 1 run run --inject faults.toml
has err '[FLK0630]' 'is no tile of the machine' 'help: '
fault cluster1 16
status 1 run run --inject faults.toml
has err '[FLK0630]' 'there is no hart 16: tile cluster1 has 16' 'help: '

# A thread of the debugger is a hart of all tiles, and its memory is that of its tile.
python3 - "$flick" $four <<'P' || die 'the debugger means another hart'
import socket, subprocess, sys, time
run = [sys.argv[1], "machine", "run", "--firmware", "letters", "--gdb", "unix:gdb.socket"] + sys.argv[2:]
machine = subprocess.Popen(run, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
peer = socket.socket(socket.AF_UNIX)
peer.settimeout(60)
for _ in range(600):
    try:
        peer.connect("gdb.socket")
        break
    except OSError:
        time.sleep(0.1)
stream = peer.makefile("rb")
def ask(text):
    peer.sendall(b"$%s#%02x" % (text.encode(), sum(text.encode()) % 256))
    while stream.read(1) != b"$":
        pass
    answer = b""
    while (byte := stream.read(1)) != b"#":
        answer += byte
    stream.read(2)
    peer.sendall(b"+")
    return answer.decode()
def is_answer(text, wanted):
    answer = ask(text)
    assert answer == wanted, f"{text}: {answer}"
is_answer("qThreadExtraInfo,p1.13", "cluster1.user1".encode().hex())
ask("Hgp1.13")
is_answer("M80100000,1:ab", "OK")
is_answer("m80100000,1", "ab")
ask("Hgp1.1")
is_answer("m80100000,1", "00")
ask("Hgp1.11")
is_answer("m80100000,1", "ab")
peer.sendall(b"$k#6b")
machine.wait(60)
P

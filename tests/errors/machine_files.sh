# Machine files that describe no machine, machines that cannot run yet, and consoles that are elsewhere.
. "$FLICK_TEST_ERRORS/lib.sh"
cat >bare.S <<'S'
.globl _start
_start:
  li t0, 0x10000000
  li t1, 'h'
  sb t1, (t0)
  li t1, 'i'
  sb t1, (t0)
#ifdef ECHO
wait:
  lbu t1, 5(t0)
  andi t1, t1, 1
  beqz t1, wait
  lbu t1, (t0)
  sb t1, (t0)
#endif
  li t0, 0x100000
  li t1, 0x5555
  sw t1, (t0)
S
for name in prints echoes; do
  define=
  [ $name = prints ] || define=-DECHO
  clang-19 --target=riscv64-unknown-elf -march=rv64gc -nostdlib -fuse-ld=lld -Wl,--image-base=0x80000000 \
    $define bare.S -o $name || die 'clang does not build a bare program'
done
run() {
  "$flick" machine run --set harts=1 --max-instructions 100000000 "$@" </dev/null
}

# A file of one's own runs, and its mistakes are named.
cat >mine.toml <<'T'
name = "mine"
description = "one hart"
timebase = "10 MHz"
[[tile]]
name = "board"
clock = "1 GHz"
[[tile.hart]]
isa = "rv64gc"
[[tile.memory]]
base = 0x8000_0000
size = "16 MiB"
[[tile.device]]
kind = "clint"
base = 0x200_0000
[[tile.device]]
kind = "plic"
base = 0xc00_0000
sources = 4
[[tile.device]]
kind = "uart16550"
base = 0x1000_0000
interrupt = 4
[[tile.device]]
kind = "finisher"
base = 0x10_0000
T
status 0 run --machine mine.toml --firmware prints
[ "$(cat out)" = hi ] || die "$(cat out)"
# wrong LINE FROM TO TEXT...
wrong() {
  local line=$1 from=$2 to=$3
  shift 3
  sed "s/^$from/$to/" mine.toml >wrong.toml
  refuses FLK0610 "wrong.toml:$line: " 'help: ' "$@" -- run --machine ./wrong.toml --firmware prints
}
wrong 8 'isa = .*' 'isa = "rv64gk"' 'no extension "k"'
wrong 8 'isa' 'ias' '`tile.hart.ias` is not known' "did you mean 'isa'"
wrong 19 'interrupt = 4' 'interrupt = 5' 'is beyond the 4 of the PLIC'
wrong 15 'base = 0xc00_0000' 'base = 0x200_1000' 'overlaps clint'
wrong 11 'size = .*' 'size = 16' 'has no unit'
wrong 1 'timebase' '# timebase' '`timebase` is missing'
refuses FLK0610 'the machine file cannot be read' -- run --machine ./missing.toml --firmware prints
refuses FLK0610 'no machine of this name' 'virt' -- run --machine virtt --firmware prints

# Machines with a part that this version draws and does not run.
for machine in m3x-noc m3x-pcie; do
  refuses FLK0620 'tile md' '(line ' 'flick machine show' -- "$flick" machine run --machine $machine \
    --set tile.md.accelerator.function=other --firmware prints
done
status 0 "$flick" machine list
has out 'virt ' 'spike-rvv' 'm3x-pcie'
for machine in $(cut -d' ' -f1 out); do
  status 0 "$flick" machine show $machine
  has out "$machine: " 'tile'
  status 0 "$flick" machine show $machine --format svg
  has out '<svg' '</svg>'
done
status 0 "$flick" machine show mine.toml --set tile.board.hart.count=3 -o mine.svg
has mine.svg '<svg' 'harts 0 to 2'
refuses FLK0105 'missing/x.svg' -- "$flick" machine show virt -o missing/x.svg

# Consoles.
status 0 run --firmware prints --console printed
[ "$(cat printed)" = hi ] && [ ! -s out ] || die "$(cat printed out)"
refuses FLK0105 'missing/console' -- run --firmware prints --console missing/console
refuses FLK0105 'this is no port' -- run --firmware prints --console tcp:x
python3 - "$flick" <<'P'
import re, socket, subprocess, sys, time
def talk(place, connect):
    run = [sys.argv[1], "machine", "run", "--firmware", "echoes", "--set", "harts=1", "--console", place]
    child = subprocess.Popen(run, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    with connect(child.stderr.readline()) as stream:
        stream.sendall(b"!")
        got = b""
        while piece := stream.recv(100):
            got += piece
    assert (got, child.wait()) == (b"hi!", 0), (got, child.returncode)
def unix(line):
    stream = socket.socket(socket.AF_UNIX)
    stream.connect("console.sock")
    return stream
def tcp(line):
    return socket.create_connection(("127.0.0.1", int(re.search(r":(\d+)$", line.strip())[1])))
talk("unix:console.sock", unix)
talk("tcp:0", tcp)
P
[ ! -e console.sock ] || die 'the socket is still there'
: >console.sock
refuses FLK0105 'console.sock' -- run --firmware prints --console unix:console.sock
for code in FLK0610 FLK0620; do
  status 0 "$flick" explain $code
done

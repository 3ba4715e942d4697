#!/bin/bash
# Checks the debugger of a machine (`flick machine run --gdb`) by gdb-multiarch, on a bare C program with
# two harts. It needs a built tree, and prints `ok` or `FAIL` for each check.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
command -v gdb-multiarch >/dev/null || skip_tests "there is no gdb-multiarch"
work=$(mktemp -d)
machine=
trap 'rm -rf "$work"; [ -z "$machine" ] || kill "$machine" 2>/dev/null' EXIT
cd "$work" || exit 1
cat >two.c <<'C'
typedef unsigned long word;
static volatile unsigned char *const uart = (unsigned char *)0x10000000;
static volatile unsigned *const finisher = (unsigned *)0x100000;
volatile word total, turns[2], marks[4];
static unsigned lock;
double half;
__attribute__((aligned(4), noinline)) void handler(void) {
  __asm__ volatile("csrr t0, mepc\n addi t0, t0, 4\n csrw mepc, t0\n mret");
  __builtin_unreachable();
}
__attribute__((noinline)) void add(word n) { total += n; }
__attribute__((noinline)) void work(word hart) {
  for (int i = 0; i < 200; i++) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) ;
    turns[hart]++;
    add(hart + 1);
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
  }
}
__attribute__((noinline)) void mark(word n) { marks[n] = total; }
void program(word hart) {
  __asm__ volatile("csrw mtvec, %0" : : "r"(handler));
  half = hart + 0.5;
  work(hart);
  if (hart)
    for (;;) __asm__ volatile("wfi");
  while (turns[1] != 200) ;
  mark(1);
  __asm__ volatile(".option push\n.option norvc\n.word 0\n.option pop" : : : "t0");
  mark(2);
  *uart = 'x';
  *uart = '\n';
  *finisher = 5 << 16 | 0x3333;
  for (;;) ;
}
__asm__(".text\n.globl _start\n_start:\nli t0, 0x6000\ncsrs mstatus, t0\nla sp, stacks\naddi t0, a0, 1\nslli t0, t0, 12\nadd sp, sp, t0\nj program\n");
char stacks[8192] __attribute__((aligned(16)));
C
clang-19 --target=riscv64-unknown-elf -march=rv64gc -mcmodel=medany -O1 -g -ffreestanding -nostdlib -fuse-ld=lld \
  -Wl,--image-base=0x80000000 two.c -o two || exit 1
options=(machine run --firmware two --set harts=2 --set memory=16M --set isa=rv64gcv_zicntr_zvl256b)
passed=0 failed=0
# Checks that gdb's output has lines that match the patterns, in this order.
in_order() { # PATTERN...
  awk 'BEGIN { for (i = 1; i < ARGC; i++) want[i] = ARGV[i]; n = ARGC - 1; ARGC = 1; at = 1 }
    at <= n && $0 ~ want[at] { at++ }
    END { if (at <= n) print "no match, in this order, for: " want[at]; exit at <= n }' "$@" <log >why ||
    { cat why >>log; return 1; }
}
# Runs gdb's commands on a machine of their own. `status`: the machine's exit status.
debug() { # COMMAND...
  local commands=() command
  for command in "$@"; do commands+=(-ex "$command"); done
  rm -f socket
  timeout 120 "$flick" "${options[@]}" --gdb unix:socket </dev/null >out 2>err &
  machine=$!
  for _ in $(seq 100); do [ -S socket ] && break; sleep 0.05; done
  timeout 100 gdb-multiarch -nx -batch -ex 'set confirm off' -ex 'set pagination off' -ex 'target remote socket' \
    "${commands[@]}" two >log 2>&1 </dev/null
  wait $machine
  status=$?
  machine=
}

debug 'info threads' 'break mark' 'continue' 'print turns' 'print total' 'bt' 'continue' 'delete' 'continue'
in_order 'Thread 1.1 .*hart 0' 'Thread 1.2 .*hart 1' 'Breakpoint 1, .*mark .n=1' '^.1 = .200, 200.' '^.2 = 600' '^#0 .*mark' '^#1 .*program' \
  'Breakpoint 1, .*mark .n=2' 'exited with code 05' && [ $status = 5 ] && [ "$(cat out)" = x ]
result "threads, breakpoints, backtrace, exit" $?

debug 'break add' 'continue' 'thread' 'print $pc == add' 'info registers a0 pc' 'print $mhartid' 'print/x $misa' 'print $priv' 'print $mcycle > 0' \
  'set var $a0 = 100' 'set var total = 1000' 'p $a0' 'finish' 'print total' 'print half' 'print $v3.b[31]' 'set var $mscratch = 77' 'print $mscratch' \
  'set var $fa0 = 2.5' 'print $fa0' 'monitor csr mtvec' 'monitor harts' 'kill'
in_order 'Breakpoint 1, .*add' '^.1 = 1$' '^a0 ' '^pc ' '^.2 = [01]$' '^.3 = 0x80' '^.4 = 3' '^.5 = 1' '^.6 = 100' '^.7 = 1100' '= [01].5$' '= 0$' '= 77$' 'double = 2.5' \
  'mtvec of hart' 'hart 0: pc 0x8' 'hart 1: pc 0x8'
result "registers: integer, floating point, vector, control and status; changes" $?

debug 'hbreak mark' 'continue' 'delete' 'watch marks[2]' 'continue' 'rwatch half' 'continue' 'kill'
in_order 'Hardware assisted breakpoint 1' 'Breakpoint 1, .*mark .n=1' 'Hardware watchpoint 2' 'Old value = 0' 'New value = 600' 'Hardware read watchpoint 3' 'exited with code 05'
result "hardware breakpoints, watchpoints" $?

debug 'hbreak work' 'continue' 'delete' 'awatch turns[1]' 'rwatch total' 'continue' 'continue' 'kill'
in_order 'access .*watchpoint 2|read watchpoint 3' 'Value = '
result "read and access watchpoints" $?

# One hart steps, in the machine's order, and goes back the same way.
debug 'break mark' 'continue' 'set var $first = $pc' 'set var $count = $minstret' 'stepi' 'stepi' 'stepi' 'print $minstret - $count' 'reverse-stepi' 'reverse-stepi' \
  'reverse-stepi' 'print $pc == $first' 'print $minstret - $count' 'kill'
in_order 'Breakpoint 1' '= 3$' '= 1$' '= 0$'
result "stepi and reverse-stepi" $?

# Back to each call of `add`, with the values of then, and the same forward again.
debug 'break mark' 'continue' 'delete' 'break add' 'reverse-continue' 'print total' 'reverse-continue' 'print total' 'continue' 'print total' 'delete' \
  'break mark' 'continue' 'print total' 'continue' 'continue'
in_order 'Breakpoint 1' 'Breakpoint 2, .*add' '^.1 = 59[89]' 'Breakpoint 2, .*add' '^.2 = 59' 'Breakpoint 2, .*add' '^.3 = 59[89]' 'Breakpoint 3, .*mark .n=1' \
  '^.4 = 600' 'Breakpoint 3, .*mark .n=2' 'exited with code 05' && [ "$(cat out)" = x ]
result "reverse-continue to breakpoints, and forward again" $?

# Who has written this?
debug 'break mark' 'continue' 'delete' 'watch total' 'reverse-continue' 'bt 1' 'reverse-continue' 'print total' 'kill'
in_order 'Breakpoint 1' 'Hardware watchpoint 2' 'Old value = 600' 'New value = 59[89]' '^#0 .*add' 'Old value = 59[89]' 'New value = 59' '= 59'
result "reverse watch" $?

debug 'break work' 'continue' 'delete' 'reverse-continue' 'print $pc' 'stepi' 'kill'
in_order 'Breakpoint 1' 'No more reverse-execution history' '_start'
result "where the past begins" $?

debug 'monitor stop-on-trap 2' 'continue' 'print $pc == handler' 'print $mcause' 'monitor stop-on-trap off' 'monitor xp 0x80000000 2' 'monitor phys on' 'x/1xw 0x80000000' \
  'monitor phys off' 'monitor nonsense' 'monitor xp 0 1' 'x/1xw 0' 'print *(char *)0xffffffffffffffff' 'continue'
in_order 'SIGILL' '= 1$' '= 2$' 'harts stop on no trap' '0x0*80000000: 0x' '0x0*80000008: 0x' 'addresses are physical' '0x80000000.*0x' 'addresses are virtual' \
  'there is no such command' 'no memory' 'Cannot access memory at address 0x0' 'Cannot access memory' 'exited with code 05'
result "traps, physical memory, and what there is not" $?

debug 'monitor stop-at-end on' 'continue' 'break mark' 'reverse-continue' 'reverse-continue' 'delete' 'continue' 'continue'
in_order 'SIGTERM' 'mark .n=2' 'mark .n=1' 'SIGTERM' 'exited with code 05' && [ $status = 5 ] && [ "$(cat out)" = x ]
result "back from the machine's end" $?

debug 'detach'
in_order 'Inferior 1 .*detached' && [ $status = 5 ] && [ "$(cat out)" = x ]
result "without its debugger the machine goes on" $?

# The run takes the same cycles with a debugger that stops often as without.
cycles() { tr -d '\r' <log | awk '/^.[0-9]+ = [0-9]+$/ { print $3 }' | tail -n 2; }
debug 'break mark' 'continue' 'continue' 'print $mcycle' 'print $minstret' 'kill'
alone=$(cycles)
debug 'break add' 'ignore 1 150' 'continue' 'stepi' 'stepi' 'delete' 'watch turns[0]' 'continue' 'continue' 'reverse-continue' 'reverse-stepi' 'delete' 'break mark' \
  'continue' 'continue' 'print $mcycle' 'print $minstret' 'kill'
[ -n "$alone" ] && [ "$alone" = "$(cycles)" ]
result "the same cycles with stops as without" $?

# Ctrl-C, a debugger that goes away, one that sends nonsense, and the next one.
cat >hang.c <<'C'
void _start(void) { for (;;) ; }
C
clang-19 --target=riscv64-unknown-elf -march=rv64gc -O1 -g -ffreestanding -nostdlib -fuse-ld=lld -Wl,--image-base=0x80000000 hang.c -o hang || exit 1
cat >nonsense.py <<'END'
import random, socket, sys
random.seed(int(sys.argv[2]))
def packet(body):
    return b"$" + body + b"#%02x" % (sum(body) % 256)
with socket.socket(socket.AF_UNIX) as s:
    s.connect(sys.argv[1])
    s.settimeout(2)
    kinds = [b"g", b"G", b"p", b"P", b"m", b"M", b"X", b"Z0,", b"z1,", b"Z2,", b"H", b"vCont;", b"vCont?", b"qSupported:", b"qXfer:features:read:target.xml:",
             b"qRcmd,", b"bs", b"T", b"?", b"QStartNoAckMode", b"qfThreadInfo", b"v", b"\xff", b"D;", b"q"]
    try:
        for _ in range(200):
            body = random.choice(kinds)
            body += bytes(random.choice(b"0123456789abcdef,:;-.p+#$}*" + bytes(range(256))) for _ in range(random.randrange(40)))
            if body[:1] in b"kD": continue
            s.sendall(packet(body) if random.random() < 0.9 else body)
            if random.random() < 0.3: s.sendall(b"\x03")
            s.setblocking(False)
            try: s.recv(100000)
            except BlockingIOError: pass
            s.setblocking(True)
    except OSError:
        pass
END
rm -f socket
timeout 120 "$flick" machine run --firmware hang --gdb unix:socket </dev/null >out 2>err &
machine=$!
for _ in $(seq 100); do [ -S socket ] && break; sleep 0.05; done
for seed in $(seq 25); do timeout 20 python3 nonsense.py socket $seed; done
cp err log
kill -0 $machine
result "a debugger that sends nonsense" $?
# What gdb sends for Ctrl-C, while the machine runs.
cat >interrupt.py <<'END'
import socket, sys, time
with socket.socket(socket.AF_UNIX) as s:
    s.connect(sys.argv[1])
    s.settimeout(20)
    s.sendall(b"$vCont;c:p1.-1#0f")
    time.sleep(0.3)
    s.sendall(b"\x03")
    got = b""
    while b"#" not in got: got += s.recv(1000)
    print(got)
END
timeout 60 python3 interrupt.py socket >log 2>&1
in_order 'T02thread:'
result "Ctrl-C" $?
timeout 100 gdb-multiarch -nx -batch -ex 'set confirm off' -ex 'target remote socket' -ex 'info symbol $pc' -ex 'kill' hang >log 2>&1 </dev/null
in_order '^_start'
result "the next debugger" $?
wait $machine
machine=
echo "$passed passed, $failed failed"
[ $failed = 0 ]

#!/bin/bash
# What is seen of the card's kernel (seen/): its calls in `flick machine stat`, threads in traces, and
# the names of functions where a program or the kernel fails. With FLICK_BLESS=1 it writes the files that
# it compares with. They have no times: these change with the kernel and its compiler.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
seen=$here/seen
work=$build/test/card-seen
kernel=$card/kernel.elf
mkdir -p "$work"
need kernel.elf libcard.a

same() { # FOUND EXPECTED NAME
  [ -z "${FLICK_BLESS:-}" ] || cp "$1" "$seen/$2"
  diff "$seen/$2" "$1"
  verdict $? "$3"
}

cd "$work"
build_bare calls "$seen/calls.c"
machine() { # COMMAND OPTION...
  timeout 120 "$flick" machine "$@" --firmware "$kernel" --initrd calls.tar --append calls --max-instructions 2000000000 </dev/null
}

# The parts of each kind of call are the whole call, and no hart stands still for longer than a part.
is_whole() { # CSV
  awk -F, 'NR == 1 || $3 == "unfinished" { next }
    $3 == "total" { if (sum != "" && sum != 0) bad = 1; sum = $6 }
    $3 ~ /^(switch|transfer|wait|work|blocked)$/ { sum -= $6 }
    { stalls = 0; for (n = 9; n <= 16; n++) stalls += $n; if (stalls > $6) bad = 1; rows++ }
    END { exit bad || sum != 0 || rows < 20 }' "$1"
}
for mode in timed functional; do
  options=(--machine mppa256)
  [ $mode = functional ] || options+=(--timed)
  machine stat "${options[@]}" --calls $mode.csv >$mode.out 2>$mode.report
  verdict $? "stat, $mode"
  cut -d, -f1-4 $mode.csv >$mode.calls
  same $mode.calls calls.csv.expected "kinds and numbers of calls, $mode"
  is_whole $mode.csv
  verdict $? "parts of calls, $mode"
done
# Stalls are known where the run is timed, and none elsewhere.
grep -q '^stalls in kernel calls' timed.report && ! grep -q '^stalls in kernel calls' functional.report
verdict $? "stalls in calls"

# To look changes no cycle, and a trace is the same each time.
machine run --machine mppa256 --timed >plain.out && diff plain.out timed.out
verdict $? "cycles of a run that is counted"
machine run --machine mppa256 --timed --trace first.trace >traced.out && diff plain.out traced.out
verdict $? "cycles of a run with a trace"
machine run --machine mppa256 --timed --trace second.trace >/dev/null && cmp first.trace second.trace
verdict $? "traces of two runs"
"$flick" report --input first.trace --output first.html --perfetto first.perfetto >report.out
verdict $? "report of a trace"
# The states of the first tile's threads, and how often each was.
sed -n '/threads of tile 0/,/threads of tile 1/s|<tr><th scope="row">\(.*\)</th><td class="number">\([0-9,]*\)</td>.*|\2 \1|p' first.html |
  sort -k2 >threads.states
same threads.states threads.expected "states of threads"
grep -q '<th scope="row">M: kernel_nothing of cluster0.user0</th><td class="number">100</td>' first.html
verdict $? "what the kernel hart does"

# Names of C++ functions, and of the kernel's own.
if has_cxx names; then
  "$flick" card c++ -O1 -o names "$seen/names.cpp"
  verdict $? "names is compiled"
  timeout 60 "$flick" machine run --program names 2>&1 </dev/null | sed 's/0x[0-9a-f]*/ADDRESS/g' >names.out
  same names.out names.expected "names of a C++ program"
fi
write=$(llvm-nm-19 "$kernel" | awk '/console_write.*console_write/ { print $1; exit }')
cat >broken.toml <<TOML
[[fault]]
at = { hart = 0, address = 0x$write }
do = "flip-register"
hart = 0
register = "a0"
bits = 0x4000000000000000
TOML
machine run --inject broken.toml >broken.out 2>&1
[ $? = 70 ] && grep -q 'in the kernel at 0x[0-9a-f]* <flick_kernel::calls::console_write::.*+0x[0-9a-f]*>, value' broken.out &&
  grep -q 'called from 0x[0-9a-f]* <flick_kernel::kernel_hart::serve_for_ever+0x[0-9a-f]*>' broken.out
verdict $? "a failure of the kernel"
conclude

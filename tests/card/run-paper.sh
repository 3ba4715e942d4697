#!/bin/bash
# The measurements of the Nanvix paper, few of them: `flick bench paper nanvix --quick`. A run is the
# same each time, and its tables can be made again of its raw output.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/card-paper
need kernel.elf kernel-symmetric.elf libcard.a
rm -rf "$work" && mkdir -p "$work"

timeout 300 "$flick" bench paper nanvix --quick -o "$work/results" >"$work/page.md" 2>"$work/log"
verdict $? "the measurements end ($work/log)"
diff "$work/page.md" "$work/results/paper-nanvix.md"
verdict $? "the page is printed and written"
timeout 60 "$flick" bench paper nanvix --only-report -o "$work/results" 2>>"$work/log" | diff "$work/page.md" -
verdict $? "the tables are made again of the raw output"

# Bars that the kernel holds with much to spare: a miss is a mistake.
held=("local call, cycles" "noise a computing thread" "copies beside workers show" "service of 15 callers")
for bar in "${held[@]}"; do
  grep -q "^| $bar.* held |\$" "$work/page.md"
  verdict $? "the bar holds: $bar"
done
# The symmetric kernel: as the locks' and caches' design makes it, with much to spare.
column() { sed -n '/^## The symmetric/,$p' "$work/page.md" | grep "^| $1 " | head -n 1 | tr -d ' ' | cut -d'|' -f "$2"; }
[ "$(column 14 4)" -lt 1000 ]
verdict $? "calls that need nothing of other harts do not wait on the symmetric kernel"
[ "$(column 'data behind change' 4)" -gt 300 ]
verdict $? "calls that need a lock empty the data cache on the symmetric kernel"

conclude

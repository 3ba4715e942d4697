#!/bin/bash
# The measurements of the Nanvix paper, few of them: `flick bench paper nanvix --quick`. A run is the
# same each time, and its tables can be made again of its raw output.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/card-paper
need kernel.elf libcard.a
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

conclude

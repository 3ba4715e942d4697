#!/bin/bash
# The measurements of the Nanvix paper, few of them: `flick bench paper nanvix --quick`. A run is the
# same each time, and its tables can be made again of its raw output.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
work=$build/test/card-paper
for part in kernel.elf libcard.a; do
  [ -e "$build/lib/flick/card/$part" ] && continue
  echo "card: skipped: no $part (make says why)"
  [ -z "${CI:-}" ] && echo "0 passed, 0 failed, 1 skipped" && exit 0
  echo "0 passed, 1 failed" && exit 1
done
rm -rf "$work" && mkdir -p "$work"

passed=0 failed=0
verdict() { # STATUS NAME
  if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED: $2"; fi
}

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

echo "$passed passed, $failed failed"
[ $failed = 0 ]

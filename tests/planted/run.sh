#!/bin/bash
# Plants the faults of faults.txt one at a time into a copy of the tree, builds it, and shows that
# the corpus catches each. The last line is `N passed, N failed`; passed means caught.
#
#   run.sh [--work DIR] [TEXT]    only faults whose name contains TEXT; DIR (build/planted) is kept,
#                                 so that a second run builds less
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$root/build/planted
only=
while [ $# -gt 0 ]; do
  case $1 in
  --work) work=$2 && shift 2 ;;
  *) only=$1 && shift ;;
  esac
done
mkdir -p "$work"
work=$(cd "$work" && pwd)
. "$here/tree.sh"

# change FILE OLD NEW: replaces the only occurrence of OLD; fails if there is not exactly one.
change() {
  OLD=$2 NEW=$3 awk '
    { while ((i = index($0, ENVIRON["OLD"])) > 0 && !seen[NR]++) {
        found++
        $0 = substr($0, 1, i - 1) ENVIRON["NEW"] substr($0, i + length(ENVIRON["OLD"]))
      }
      print }
    END { exit found != 1 }' "$1" >"$work/changed" || return 1
  cat "$work/changed" >"$1"
}

# Each key's values, one for each fault.
declare -a fault part file old new tests
while read -r key value; do
  case $key in
  '' | '#'*) ;;
  fault | part | file | old | new | tests)
    [ $key = fault ] && count=$((${count:--1} + 1))
    declare "${key}[$count]=$value"
    ;;
  *) echo "faults.txt: unknown key $key" && exit 2 ;;
  esac
done <"$here/faults.txt"
count=${#fault[@]}

passed=0 failed=0
row() { printf '%-7s %-12s %-58s %s\n' "$@"; }
verdict() { # N RESULT DETAIL
  row "$2" "${part[$1]}" "${fault[$1]}" "$3"
  if [ "$2" = caught ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

# Plants fault N, builds, runs its tests and takes it out again (which the next build sees).
try() {
  local n=$1 out=$work/out status=0
  echo "== ${fault[n]}" >>"$log"
  cp "$tree/${file[n]}" "$work/original"
  if ! change "$tree/${file[n]}" "${old[n]}" "${new[n]}"; then
    verdict "$n" MISSED "its line is not, or not once, in ${file[n]}"
  elif ! build; then
    verdict "$n" MISSED "does not build, see $log"
  else
    # shellcheck disable=SC2086  # the arguments are words
    corpus ${tests[n]} >"$out" 2>/dev/null || status=$?
    cat "$out" >>"$log"
    if [ $status = 1 ] && grep -q '^FAILED' "$out"; then
      verdict "$n" caught "$(caught_by "$out")"
    else
      verdict "$n" MISSED "$(tail -n 1 "$out")"
    fi
  fi
  cp "$work/original" "$tree/${file[n]}"
}

prepare || { echo "0 passed, 1 failed" && exit 1; }

chosen=()
for ((n = 0; n < count; n++)); do
  [[ ${fault[n]} == *"$only"* ]] || continue
  # shellcheck disable=SC2086
  if corpus ${tests[n]} >"$work/out" 2>/dev/null; then
    chosen+=("$n")
  else
    cat "$work/out" >>"$log"
    verdict "$n" MISSED "its tests fail without it: $(tail -n 1 "$work/out")"
  fi
done
row RESULT PART FAULT 'BY (up to three programs)'
for n in ${chosen[@]+"${chosen[@]}"}; do
  try "$n"
done
[ -n "$only" ] || [ "$count" -ge 10 ] || { echo "only $count faults" && failed=$((failed + 1)); }
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]

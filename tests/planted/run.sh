#!/bin/bash
# Plants the faults of faults.txt one at a time into a copy of the tree, builds it, and shows that the
# corpus catches each. The last line is `N passed, N failed`; passed means caught.
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
tree=$work/tree
mkdir -p "$tree"
work=$(cd "$work" && pwd)
tree=$work/tree
log=$work/log
: >"$log"

# The tree as it stands, uncommitted changes included. What differs gets a new time stamp, so that
# cargo and make see it.
copy() {
  local file
  (cd "$root" && git ls-files -co --exclude-standard) | while read -r file; do
    [ -f "$root/$file" ] || continue
    cmp -s "$root/$file" "$tree/$file" && continue
    mkdir -p "$tree/$(dirname "$file")"
    rm -f "$tree/$file"
    cp "$root/$file" "$tree/$file"
  done
  # A file that is gone from the sources must not live on in the copy.
  (cd "$tree" && find . -type f -printf '%P\n') | while read -r file; do
    [ -f "$root/$file" ] || rm "$tree/$file"
  done
}

# Without link-time optimisation, which takes most of the time of a build and changes no behaviour.
build() {
  CARGO_TARGET_DIR=$work/target CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    FLICK_ROOT=$work/build make -s -C "$tree" BUILD="$work/build" build >>"$log" 2>&1
}
corpus() {
  "$work/target/release/flick-test" --flick "$work/build/bin/flick-cc" --tests "$root/tests" \
    --include "$root/include" --work "$work/corpus" --show 3 "$@"
}

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
  if ! change "$tree/${file[n]}" "${old[n]}" "${new[n]}"; then
    verdict "$n" MISSED "its line is not, or not once, in ${file[n]}"
  elif ! build; then
    verdict "$n" MISSED "does not build, see $log"
  else
    # shellcheck disable=SC2086  # the arguments are words
    corpus ${tests[n]} >"$out" 2>/dev/null || status=$?
    cat "$out" >>"$log"
    if [ $status = 1 ] && grep -q '^FAILED' "$out"; then
      verdict "$n" caught "$(sed -n 's/^FAILED \([^ ]*\).*/\1/p' "$out" | sort -u | head -n 3 | paste -sd ' ')"
    else
      verdict "$n" MISSED "$(tail -n 1 "$out")"
    fi
  fi
  cp "$root/${file[n]}" "$tree/${file[n]}"
}

echo "Building the tree as it is in $work"
copy
build || { tail -n 30 "$log" && echo "0 passed, 1 failed" && exit 1; }
(cd "$tree" && CARGO_TARGET_DIR=$work/target CARGO_PROFILE_RELEASE_LTO=off \
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 "${CARGO:-cargo}" build -q --release -p flick-tests) >>"$log" 2>&1

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

#!/bin/bash
# Calls functions with random signatures in both directions, nested, on every engine, and compares
# the results with those of plain clang's build.
#
#   run.sh [PROGRAMS [FIRST-SEED]]
#
# By default 6 programs with seeds from 1 on. The last line is `N passed, N failed`. With KEEP=1 the
# directory of the programs stays, and its name is printed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
programs=${1:-6} first=${2:-1}
work=$(mktemp -d)
[ -n "${KEEP:-}" ] && echo "$work" || trap 'rm -rf "$work"' EXIT
cd "$work"
unset "${!FLICK_@}"
export FLICK_OFFLOAD=require
passed=0 failed=0
# Alternate ways to run a program: settings, and options of the link.
ways=("FLICK_ENGINE=ahead" "FLICK_ENGINE=translate" "FLICK_ENGINE=interp" "FLICK_TRIGGER=fault" "FLICK_STATS=$work/stats")
# Vectors in signatures are as clang has them without AVX.
warnings=(-Wno-psabi -Wno-constant-conversion -Wno-implicit-const-int-float-conversion)
for ((seed = first; seed < first + programs; seed++)); do
  level=-O$((seed % 3)) option=
  [ $((seed % 4)) = 0 ] && option=-static
  "$here/generate.py" "$seed" 24 >"$seed.c"
  clang-19 "$level" "${warnings[@]}" -I"$root/include" "$seed.c" -o plain && ./plain >expected
  # shellcheck disable=SC2086 # It may be no word.
  "$flick_cc" "$level" "${warnings[@]}" $option "$seed.c" -o crossing
  # The link's translation; and one made at run time.
  "$flick_cc" "$level" "${warnings[@]}" --flick-translate=run "$seed.c" -o untranslated
  for way in "${ways[@]}" untranslated; do
    program=./crossing setting=$way
    [ "$way" = untranslated ] && program=./untranslated setting=FLICK_ENGINE=translate
    if env "$setting" "$program" >got 2>log && cmp -s expected got; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "failed: seed $seed, $level $option, $way: $(head -1 log) $(diff expected got | head -3 | tr '\n' ' ')"
    fi
  done
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]

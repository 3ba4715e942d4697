#!/bin/bash
# Programs that earlier versions of Flick have linked run on today's runtime: with the same output,
# and by the code that their link has translated (docs/translator.md, "Versions"). A folder has the
# version's name, a program, its source and its output. Each version of TRANSLATION_ABI and of the
# image's format gets a folder when it is released. It is made by `flick-cc -O1 program.c`, stripped,
# with /usr/lib/flick as its library's folder.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
result_log=$work/log
export LD_LIBRARY_PATH=$build/lib/flick FLICK_OFFLOAD=require
unset FLICK_ENGINE FLICK_TRIGGER FLICK_STATS
for folder in "$here"/*/; do
  version=$(basename "$folder")
  for engine in auto translate interp; do
    FLICK_ENGINE=$engine "$folder/program" >"$work/log" 2>&1 && cmp "$work/log" "$folder/output"
    result "program of $version, FLICK_ENGINE=$engine" $?
  done
  # Nothing is translated anew, and nothing is interpreted.
  rm -f "$work/stats"
  FLICK_ENGINE=ahead FLICK_STATS=$work/stats "$folder/program" >"$work/log" 2>&1 &&
    awk '$1 == "instructions" || $1 == "translations" { sum += $2; n++ } END { exit n < 1 || sum != 0 }' "$work/stats"
  result "the translation of $version is used" $?
done
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed != 0 ]

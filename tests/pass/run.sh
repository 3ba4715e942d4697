#!/bin/bash
# Golden tests of the compiler pass, run by lit. Each *.c and *.cpp here says in RUN lines how it is compiled, and
# in CHECK lines (FileCheck) what must come out. lit.cfg.py has the words of RUN lines.
#   tests/pass/run.sh [FILE...]       FLICK_PASS=path of flick-pass.so (else the one in build/)
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
lit=(python3 /usr/lib/llvm-19/build/utils/lit/lit.py)
[ -e "${lit[1]}" ] || lit=(lit)
FLICK_PASS_WORK=$(mktemp -d)
export FLICK_PASS_WORK
trap 'rm -rf "$FLICK_PASS_WORK"' EXIT

files=("$@")
cd "$here" || exit 1
[ $# -gt 0 ] || files=(.)
"${lit[@]}" -v --order=lexical "${files[@]}" 2>&1 | tee "$FLICK_PASS_WORK/log" |
  grep -v '^PASS: ' | cut -c1-2000
status=${PIPESTATUS[0]}
passed=$(grep -c '^PASS: ' "$FLICK_PASS_WORK/log")
# Whatever else lit calls a test (FAIL, UNRESOLVED, TIMEOUT, ...) is a failure.
failed=$(grep -cE '^(FAIL|XPASS|UNRESOLVED|TIMEOUT|UNSUPPORTED|XFAIL|SKIPPED): ' "$FLICK_PASS_WORK/log")
if [ "$status" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

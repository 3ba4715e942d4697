#!/bin/bash
# Builds the sample projects by their own build systems, with Flick and with plain clang, and
# compares.
#   tests/projects/run.sh [NAME...]      cases/NAME.sh, all of them by default
# Expects a built tree (`make build`), or one that FLICK_ROOT names. Everything happens in
# build/test/projects/NAME; a failed case's log is shown. The last line: N passed, N failed, N skipped.
set -uo pipefail
export FLICK_TEST_PROJECTS
FLICK_TEST_PROJECTS=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$FLICK_TEST_PROJECTS/../.." && pwd)
export FLICK_TEST_ROOT=${FLICK_ROOT:-$root/build}
work=${FLICK_TEST_WORK:-$root/build/test/projects}
# A build system would take these variables from the caller's shell.
unset FLICK_ROOT CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LIBS AR DESTDIR PREFIX MAKEFLAGS MFLAGS MAKELEVEL
unset CPATH LIBRARY_PATH LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH CMAKE_GENERATOR
while read -r name; do unset "$name"; done < <(compgen -e | grep -E '^(FLICK_(OFFLOAD|TRIGGER|STATS|ENGINE|PLACE)|CCACHE_.*)$')
export PATH=$FLICK_TEST_ROOT/bin:$PATH LC_ALL=C CCACHE_DISABLE=1

run_case() { # NAME
  local name=$1 start=$SECONDS status=0
  rm -rf "${work:?}/$name"
  mkdir -p "$work/$name"
  (cd "$work/$name" && exec bash -eu "$FLICK_TEST_PROJECTS/cases/$name.sh") >"$work/$name.log" 2>&1 </dev/null || status=$?
  case $status$(grep -m 1 '^skipped: ' "$work/$name.log") in
  0skipped:*) echo "skip $name ($(grep -m 1 -o 'no .*' "$work/$name.log"))" ;;
  0) echo "ok   $name ($((SECONDS - start)) s)" && rm -rf "${work:?}/$name" ;;
  *) echo "FAIL $name ($((SECONDS - start)) s): $work/$name.log" && tail -n 25 "$work/$name.log" | sed 's/^/    /' ;;
  esac
}
export -f run_case
export work
mkdir -p "$work"

[ $# -gt 0 ] || set -- $(cd "$FLICK_TEST_PROJECTS/cases" && ls -- *.sh | sed 's/\.sh$//')
results=$work/results
# There are as many cases at once as cores. Each builds with two jobs at most.
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c 'run_case {}' | tee "$results"
count() { grep -c "^$1 " "$results"; }
passed=$(count ok) failed=$(count FAIL) skipped=$(count skip)
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ $((passed + skipped)) = $# ]

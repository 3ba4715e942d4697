#!/bin/bash
# Real C projects from Debian's source packages, built by their own build systems with CC=flick-cc
# and a placement file, must pass their own checks with FLICK_OFFLOAD=require.
#
#   run.sh [OPTIONS] [PROJECT...]         all projects of projects.sh
#     --quick             a shorter check of lz4
#     --place FILE|random:SEED:PERCENT    instead of the project's PROJECT.place
#     --cflags OPTIONS    instead of the project's own optimisation
#
# Prints for each project the functions on the NxP with their crossings, the NxP instructions, and
# their share; the last line is `N passed, N failed`. The builds stay in build/real/.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/projects.sh"
out=$build/real
. "$here/lib.sh"

quick='' place='' cflags='' chosen=()
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=yes ;;
    --place) place=$2 && shift ;;
    --cflags) cflags=$2 && shift ;;
    -*) sed -n '2,/^set/s/^# \?//p' "$0" >&2 && exit 2 ;;
    *) chosen+=("$1") ;;
  esac
  shift
done
[ ${#chosen[@]} -gt 0 ] && projects=("${chosen[@]}")
case $place in '' | random:*) ;; *) place=$(realpath "$place") || exit 2 ;; esac

export CC=$flick_cc FLICK_OFFLOAD=require
unset FLICK_STATS
# Names in the explained tables of the finished files that stand on SIDE.
placed_on() { # SIDE
  awk -v side="$1" '$2 == side { print $1 }' explained | sort -u
}
# Checks that every name of the placement file is on the NxP in each file that has it.
all_placed() { # PLACEMENT-FILE
  local files entry wrong=0
  explain || return 1
  case $1 in random:*) return 0 ;; esac
  mapfile -t files < <(programs)
  "$flick" place --check "$1" "${files[@]}" || return 1
  for entry in $(awk '$1 == "nxp" { print $2 }' "$1"); do
    if ! awk -v f="$entry" '$1 == f { seen = 1; if ($2 != "nxp") bad = 1 } END { exit bad || !seen }' explained; then
      echo "$entry is not on the NxP:" && grep "^$entry " explained
      wrong=1
    fi
  done
  return $wrong
}

# The work under callgrind with everything on the host; prints the host's share of instructions.
count_host() { # PROJECT
  local nxp both
  nxp=$(placed_on nxp | tr '\n' ' ') both=$(placed_on both | tr '\n' ' ')
  rm -f callgrind.*
  # valgrind 3.19 does not read clang 19's debug information.
  programs | xargs strip -g || return 1
  FLICK_OFFLOAD=off "work_$1" valgrind -q --tool=callgrind --callgrind-out-file=callgrind.%p >&2 || return 1
  awk -v nxp="$nxp" -v both="$both" -f "$here/host-instructions.awk" callgrind.*
}

report() { # PROJECT: of the own check, then of the work
  local name calls
  printf '    %-38s %14s\n' "function on the NxP" "host -> NxP"
  while read -r name; do
    calls=$(awk -v f="$name" '$1 == "call" && $2 == "host-to-nxp" && $4 == f { n += $3 } END { printf "%.0f", n }' check.stats)
    printf '    %-38s %14s\n' "$name" "$([ "$calls" = 0 ] && echo "from the NxP" || echo "$calls")"
  done < <(placed_on nxp | head -n "${FLICK_REAL_ROWS:-20}")
  printf '    %-38s %14s\n' "own check: crossings host -> NxP" "$(crossings host-to-nxp check.stats)" \
    "own check: crossings NxP -> host" "$(crossings nxp-to-host check.stats)" \
    "own check: NxP instructions" "$(sum instructions check.stats)" \
    "own check: processes" "$(grep -c '^flick-stats' check.stats)"
}

share() { # PROJECT
  local nxp host
  rm -f work.stats
  FLICK_STATS=$PWD/work.stats "work_$1" || return 1
  nxp=$(sum instructions work.stats)
  host=$(count_host "$1") && [ "$host" -gt 0 ] && [ "$nxp" -gt 0 ] || return 1
  awk -v n="$nxp" -v h="$host" 'BEGIN {
    printf "    %-38s %14.0f\n    %-38s %14.0f\n    %-38s %13.1f%%\n", "fixed work: NxP instructions", n,
      "fixed work: host instructions (callgrind)", h, "fixed work: share of the NxP", 100 * n / (n + h) }' >share
}

crossed() { [ "$(crossings host-to-nxp check.stats)" -gt 0 ] && [ "$(sum instructions check.stats)" -gt 0 ]; }

project() { # PROJECT SOURCE
  local name=$1 dir=$out/$1 where=${place:-$here/$1.place} check=check_$1
  rm -rf "$dir" && cp -R "$2" "$dir" && cd "$dir" || return 1
  [ -n "$quick" ] && declare -F "quick_$name" >/dev/null && check=quick_$name
  export CFLAGS="${cflags:-$(default_cflags "$name")} --flick-place=$where"
  step "$name" build "build_$name" || return 1
  step "$name" check env FLICK_STATS="$dir/check.stats" bash -c ". '$here/projects.sh'; $check" || return 1
  step "$name" placement all_placed "$where" || return 1
  step "$name" crossings crossed || return 1
  report "$name"
  step "$name" share share "$name" && cat share
}

mkdir -p "$out"
mapfile -t sources < <("$root/scripts/debian-source.sh" "$out/packages" "${projects[@]}")
if [ ${#sources[@]} != ${#projects[@]} ]; then
  echo "real: the sources could not be had (see above)"
  echo "0 passed, 1 failed"
  exit 1
fi
export INPUT=$out/input
work_input "${sources[@]}" >"$INPUT"
began=$SECONDS
for i in "${!projects[@]}"; do
  say "${projects[i]}: $(basename "${sources[i]}")"
  project "${projects[i]}" "${sources[i]}"
done
echo "after $((SECONDS - began)) s"
echo "$passed passed, $failed failed"
exit $((failed != 0))

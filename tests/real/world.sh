#!/bin/bash
# Builds programs of real size, unchanged, with a random part of their functions on the NxP. They
# are the C sources that crates carry, at the versions of world/Cargo.lock, and C++ programs from
# Debian's source packages. Each must pass its own checks, or have the same output as its build by
# plain clang, with FLICK_OFFLOAD=require.
#
#   world.sh [OPTIONS] [PROJECT...]       all projects of world-projects.sh
#     --percent LIST      shares of functions that are to be placed (10,50,100)
#     --seed N            chooses these functions (1)
#     --cflags OPTIONS    instead of -O2
#     --jobs N            builds at a time (as many as processors)
#
# Prints a line for each project and percentage: the functions that were chosen, the number of them
# on the NxP and the reasons for the others, the calls that cross, and the result of the check.
# Crossings and refusals are those of all programs of the project. The builds stay in
# build/real/world/.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/world-projects.sh"
out=$build/real/world
. "$here/lib.sh"
# At 100 %, at least this share of the functions must be on the NxP. Others have no form there.
least_share=90

percent=10,50,100 seed=1 cflags=-O2 jobs=$(nproc) chosen=()
while [ $# -gt 0 ]; do
  case $1 in
    --percent) percent=$2 && shift ;;
    --seed) seed=$2 && shift ;;
    --cflags) cflags=$2 && shift ;;
    --jobs) jobs=$2 && shift ;;
    -*) sed -n '2,/^set/s/^# \?//p' "$0" >&2 && exit 2 ;;
    *) chosen+=("$1") ;;
  esac
  shift
done
[ ${#chosen[@]} -gt 0 ] || chosen=("${crates[@]}" "${debian[@]}")
world=$here/world
export FLICK_OFFLOAD=require
unset FLICK_STATS

# The source of a project, fetched if it is not here yet.
source_of() { # PROJECT
  case " ${debian[*]} " in
    *" $1 "*) "$root/scripts/debian-source.sh" "$build/real/packages" "$(package_of "$1")" ;;
    *) "$root/scripts/crate-source.sh" "$out/crates" "$world/Cargo.toml" "$(crate_of "$1")" ;;
  esac
}

# The compilers of a variant, and its directory; `0` is plain clang.
enter() { # PROJECT PERCENT
  if [ "$2" = 0 ]; then
    export CC=clang-19 CXX=clang++-19 CFLAGS=$cflags
  else
    export CC=$flick_cc CXX=${flick_cc%cc}c++ CFLAGS="$cflags --flick-place=random:$seed:$2"
  fi
  cd "$out/$1/$2"
}
build_variant() { # PROJECT PERCENT
  mkdir -p "$out/$1/$2" && enter "$@" && "build_$1" >build.log 2>&1
}
# Its check, whose output stays in `output`.
check_variant() { # PROJECT PERCENT
  enter "$@" || return 1
  FLICK_STATS=$PWD/stats "check_$1" >output 2>check.log
}

# Functions that were chosen: on the NxP and refused, and the refusals by code. A C function is one
# of its unit; inline C++ functions have one name in all units.
share_of() {
  awk '
    $2 == "nxp" && /chosen by/ || $2 == "host" && /cannot be placed/ {
      key = $1 ~ /^_Z/ ? $1 : $1 " " $(NF - 1)
      code = $2 == "nxp" ? "" : substr($0, index($0, "[FLK") + 1, 7)
      if (!(key in why) || code != "") why[key] = code
    }
    END {
      for (key in why) { all++; if (why[key] == "") good++; else codes[why[key]]++ }
      for (code in codes) text = text " " code ":" codes[code]
      printf "%d %d%s\n", all, good, text
    }' explained
}

row() { printf '%-10s %4s %9s %7s %7s %12s %12s %16s  %s\n' "$@"; }

variant() { # PROJECT PERCENT: built already
  local all good codes share calls=0 back=0 instructions=0 verdict=ok
  cd "$out/$1/$2" || return 1
  explain || return 1
  read -r all good codes < <(share_of)
  share=$(awk -v a="$all" -v g="$good" 'BEGIN { printf "%.1f%%", a ? 100 * g / a : 0 }')
  (check_variant "$1" "$2") || verdict="FAILED, status $?"
  if ! diff -q "../0/output" output >/dev/null; then verdict="$verdict, OUTPUT DIFFERS"; fi
  if [ -f stats ]; then
    calls=$(crossings host-to-nxp stats) back=$(crossings nxp-to-host stats) instructions=$(sum instructions stats)
  fi
  [ "$calls" -gt 0 ] || verdict="$verdict, NO CROSSING"
  if [ "$2" = 100 ] && [ $((100 * good)) -lt $((least_share * all)) ]; then verdict="$verdict, SHARE TOO SMALL"; fi
  row "$1" "$2%" "$all" "$good" "$share" "$calls" "$back" "$instructions" "$verdict${codes:+; refused: $codes}"
  [ "$verdict" = ok ]
}

project() { # PROJECT
  local name=$1 share variants=(0 ${percent//,/ })
  SRC=$(source_of "$name") || { echo "$name: its source could not be had" && return 1; }
  export SRC
  rm -rf "${out:?}/$name"
  for share in "${variants[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    (build_variant "$name" "$share") &
  done
  wait
  for share in "${variants[@]}"; do
    if [ "$share" = 0 ]; then
      (check_variant "$name" 0) || { echo "$name by plain clang: $out/$name/0/build.log, check.log" && return 1; }
    elif (variant "$name" "$share"); then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "    see $out/$name/$share: build.log, check.log, output (plain clang's: ../0/output)"
      tail -n 5 "$out/$name/$share"/{build,check}.log 2>/dev/null | sed 's/^/    /'
    fi
  done
}

mkdir -p "$out"
began=$SECONDS
row project '' functions 'on NxP' share 'host -> NxP' 'NxP -> host' 'NxP instructions' check
for name in "${chosen[@]}"; do
  before=$failed
  project "$name" || { [ $failed != $before ] || failed=$((failed + 1)); }
done
echo "after $((SECONDS - began)) s"
echo "$passed passed, $failed failed"
exit $((failed != 0))

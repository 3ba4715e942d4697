#!/bin/bash
# Measures the cost of timed runs on the kernels of bench/engine: host code built with --flick-timed
# beside plain clang, and NxP code under the timing observer in millions of instructions a second.
# `bench/timed.sh [RUNS]` takes the fastest of RUNS runs each.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh
runs=${1:-5}
work=$build/bench/timed
mkdir -p "$work"

options=(-O2 -std=c11 -ffp-contract=off -fno-math-errno -Wno-c23-extensions --embed-dir=examples/data
  -fno-vectorize -fno-slp-vectorize)
sources=()
kernels=()
for file in bench/engine/*.c; do
  case ${file##*/} in
    bare.c) ;;
    main.c | list.c | hosted.c) sources+=("$file") ;;
    *) sources+=("$file") kernels+=("$file") ;;
  esac
done
clang-19 "${options[@]}" "${sources[@]}" -o "$work/plain"
"$flick_cc" "${options[@]}" --flick-timed "${sources[@]}" -o "$work/timed"
echo 'nxp *' >"$work/all.place"
objects=()
for kernel in "${kernels[@]}"; do
  object=$work/$(basename "$kernel" .c).o
  "$flick_cc" "${options[@]}" "--flick-place=$work/all.place" -c "$kernel" -o "$object"
  objects+=("$object")
done
"$flick_cc" "${options[@]}" "${objects[@]}" bench/engine/{main,list,hosted}.c -o "$work/nxp"
# Without caches and TLBs.
awk '/^\[/ { skip = /cache|tlb/ } !skip' platforms/flick-isca20.toml >"$work/flat.toml"

# Nanoseconds of the fastest run. Checksums must be those of plain clang's build.
fastest() {
  local program=$1 kernel=$2
  "$work/$program" "$kernel" "$runs" >"$work/out"
  cut -d' ' -f2 "$work/out" | sort -u >"$work/sum"
  cmp -s "$work/sum" "$work/sum.$kernel" || { [ "$program" = plain ] && cp "$work/sum" "$work/sum.$kernel"; } ||
    echo "$program $kernel: another checksum" >&2
  cut -d' ' -f1 "$work/out" | sort -n | head -1
}
# Instructions of a run: those of two runs less those of one.
instructions() {
  FLICK_STATS=1 FLICK_ENGINE=interp "$work/nxp" "$1" "$2" 2>&1 >/dev/null |
    sed -n 's/,//g; s/^ *\([0-9]*\)  NxP instructions.*/\1/p'
}
"$work/plain" | while read -r kernel; do
  plain=$(fastest plain "$kernel") timed=$(fastest timed "$kernel")
  count=$(($(instructions "$kernel" 2) - $(instructions "$kernel" 1)))
  line="$kernel $plain $timed $count"
  for platform in "$work/flat.toml" flick-isca20 near-memory; do
    line+=" $(FLICK_PLATFORM=$platform fastest nxp "$kernel")"
  done
  echo "$line"
done | awk '
  BEGIN { printf "| kernel | host, timed / plain | no caches, M/s | flick-isca20, M/s | near-memory, M/s |\n|---|--:|--:|--:|--:|\n" }
  { n++; split("", v); v[1] = $3 / $2; for (i = 5; i <= 7; i++) v[i - 3] = $4 / $i * 1000
    printf "| %s | %.2f | %.0f | %.0f | %.0f |\n", $1, v[1], v[2], v[3], v[4]
    for (i = 1; i <= 4; i++) { s[i] += log(v[i]); if (n == 1 || (i == 1 ? v[i] > w[i] : v[i] < w[i])) w[i] = v[i] } }
  END { printf "| geometric mean | %.2f | %.0f | %.0f | %.0f |\n", exp(s[1] / n), exp(s[2] / n), exp(s[3] / n), exp(s[4] / n)
        printf "| worst | %.2f | %.0f | %.0f | %.0f |\n", w[1], w[2], w[3], w[4] }'

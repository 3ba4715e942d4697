#!/bin/bash
# All that tests/timing/ordered.sh samples: 20 runs each, idle and on a loaded machine, of 1, 4, 16
# and 64 threads give one prediction, and it is exact. Locks, barriers, queues and the like, a pool
# of std::thread, OpenMP, and zstd, whose source is fetched. Some fifteen minutes.
#
#   run-threads.sh [--runs N] [NAME…]    NAME: a form of ordered.c, pool, openmp, zstd
#
# LIBOMP: a folder of LLVM (with lib/libomp.so) where it is not clang's own.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
work=$build/test/timing-threads
mkdir -p "$work"
cd "$work"
passed=0 failed=0
result_log=
. "$here/same_prediction.sh"
runs=20
if [ "${1:-}" = --runs ]; then runs=$2 && shift 2; fi
forms="lock spin barrier queue semaphore atomic pipe sleep"
options=(-O2 -Wall -Werror --flick-timed)

build_forms() { "$flick_cc" "${options[@]}" "$here/ordered.c" -o ordered -pthread; }
build_pool() { "$flick_cxx" -std=c++20 "${options[@]}" "$here/ordered.cpp" -o pool -pthread; }
build_openmp() {
  local llvm=${LIBOMP:-$(clang-19 -print-resource-dir)/../../..}
  [ -e "$llvm/lib/libomp.so" ] || { echo 'openmp: skipped: libomp is missing' && return 1; }
  "$flick_cc" "${options[@]}" -fopenmp "-I$llvm/lib/clang/19/include" "-L$llvm/lib" "-Wl,-rpath,$llvm/lib" \
    "$here/openmp.c" -o openmp
}
build_zstd() {
  local source zstd
  source=$("$root/scripts/crate-source.sh" "$build/real/world/crates" "$here/../real/world/Cargo.toml" zstd-sys)
  zstd=$source/zstd/lib
  mkdir -p objects
  printf '%s\0' "$zstd"/{common,compress,decompress}/*.c "$zstd"/decompress/*.S "$here/zstd_threads.c" |
    (cd objects && xargs -0 -n 1 -P "$(nproc)" "$flick_cc" "${options[@]}" -DZSTD_MULTITHREAD "-I$zstd" -pthread -c)
  "$flick_cc" "${options[@]}" objects/*.o -o zstd -pthread
}

compare() { # NAME PROGRAM ARGUMENTS…
  local name=$1 busy status
  shift
  for busy in idle loaded; do
    status=0
    $busy same "$runs" "$@" || status=$?
    result "$runs runs, $busy: $name" "$status"
    cp first "first-$busy" 2>/dev/null || true
  done
  status=0
  cmp -s first-idle first-loaded || status=1
  result "the same idle and loaded: $name" "$status"
}

platform=near-memory
for name in "${@:-$forms pool openmp zstd}"; do
  for name in $name; do
    case " $forms " in *" $name "*) what=forms program=(./ordered "$name") ;; *) what=$name program=("./$name") ;; esac
    "build_$what" || continue
    for threads in 1 4 16 64; do
      # A queue has one who fills it.
      case $name/$threads in queue/1 | pipe/1) continue ;; esac
      compare "$name, $threads threads" "${program[@]}" "$threads" $([ $what != forms ] || echo any)
    done
  done
done
echo "$passed passed, $failed failed"
exit "$((failed > 0))"

#!/bin/bash
# Measures the programs of SingleSource/Benchmarks of LLVM's test-suite with functions on the NxP,
# beside clang's build, both without vectorisation. It prints the processor time of each program
# that takes 0.2 to 10 s natively, its ratio, and the geometric mean and the worst of the ratios.
#
#   bench/suite.sh SUITE [PERCENT [SEED [ROUNDS]]]
#
# SUITE is a checkout of the suite. PERCENT of the functions are drawn (100), by SEED (1). Programs
# run in turns; a figure is the median of ROUNDS (3). The builds stay in build/bench/suite. It needs
# a built tree (`make build`) and CMake.
set -euo pipefail
case ${1:-} in '' | -h | --help) sed -n '2,/^set/s/^# \?//p' "$0" && exit ;; esac
. "$(cd "$(dirname "$0")" && pwd)/../scripts/lib.sh"
suite=$(realpath "$1") percent=${2:-100} seed=${3:-1} rounds=${4:-3}
out=$build/bench/suite
flags="-O2 -fno-vectorize -fno-slp-vectorize"

make_suite() { # FOLDER CC CXX FLAGS
  [ ! "$1/.complete" -nt "$flick" ] || return 0
  say "Building $1"
  rm -rf "$1" && mkdir -p "$1"
  (
    cd "$1"
    cmake -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_COMPILER=$2" \
      "-DCMAKE_CXX_COMPILER=$3" "-DCMAKE_C_FLAGS_RELEASE=$4" "-DCMAKE_CXX_FLAGS_RELEASE=$4" \
      -DTEST_SUITE_SUBDIRS=SingleSource/Benchmarks -DTEST_SUITE_LIT=/bin/true \
      -DTEST_SUITE_COLLECT_COMPILE_TIME=OFF -DTEST_SUITE_COLLECT_CODE_SIZE=OFF "$suite"
    # A program that does not build is named below.
    make -k "-j$(nproc)" || true
  ) >"$1.log" 2>&1 || { tail -n 20 "$1.log" >&2 && exit 1; }
  touch "$1/.complete"
}

# Processor time in ms of the program that a `.test` file runs; `failed` if it fails or takes long.
processor_time() { # TEST
  local dir line TIMEFORMAT='%U %S' spent
  dir=$(dirname "$1")
  line=$(sed -n 's/^RUN: cd %S ; //p' "$1")
  line=${line//%S/$dir}
  spent=$( { time (cd "$dir" && ulimit -t 60 && eval "$line" </dev/null >/dev/null 2>&1) || echo failed; } 2>&1)
  case $spent in *failed*) echo failed ;; *) awk '{ print int(($1 + $2) * 1000 + 0.5) }' <<<"$spent" ;; esac
}
median() { sort -n | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "" }'; }

make_suite "$out/native" clang-19 clang++-19 "$flags"
placed=$out/placed-$percent-$seed
make_suite "$placed" "$flick_cc" "$flick_cxx" "$flags --flick-place=random:$seed:$percent"

results=$out/results-$percent-$seed
: >"$results"
while read -r test; do
  name=${test#"$out/native/SingleSource/Benchmarks/"} name=${name%.test}
  other=$placed/${test#"$out/native/"}
  [ -x "${test%.test}" ] || { echo "clang does not build $name" >&2 && continue; }
  [ -x "${other%.test}" ] || { echo "flick does not build $name" >&2 && continue; }
  first=$(processor_time "$test")
  [ "$first" != failed ] && [ "$first" -ge 200 ] && [ "$first" -le 10000 ] || continue
  plain=$first ours=
  for ((i = 0; i < rounds; i++)); do
    ours+=$'\n'$(processor_time "$other")
    plain+=$'\n'$(processor_time "$test")
  done
  case $ours in *failed*) echo "$name fails with functions on the NxP" >&2 && continue ;; esac
  echo "$name $(median <<<"$plain") $(median <<<"${ours#?}")" | tee -a "$results" >&2
done < <(find "$out/native/SingleSource/Benchmarks" -name '*.test' | sort)

sort -k1,1 "$results" | awk -v percent="$percent" -v seed="$seed" '
  BEGIN {
    printf "\n%s %% of the functions on the NxP, seed %s\n\n", percent, seed
    print "| program | native ms | with Flick ms | x |\n|---|--:|--:|--:|"
  }
  {
    ratio = $3 / $2; sum += log(ratio); n++
    if (ratio > worst) { worst = ratio; which = $1 }
    printf "| %s | %d | %d | %.2f |\n", $1, $2, $3, ratio
  }
  END { if (n) printf "\n%d programs: geometric mean %.2f, worst %.2f (%s)\n", n, exp(sum / n), worst, which }'

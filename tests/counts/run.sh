#!/bin/bash
# Counts by callgrind the instructions that the host executes for crossings and for translated code,
# and compares them with limits.txt. Counts show changes that a clock on a busy machine does not
# show. The script needs a built tree. The last line is `N passed, N failed`. With FLICK_BLESS=1 it
# writes new limits, a few percent above the counts.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
limits=$here/limits.txt
out=$build/test/counts
rm -rf "$out" && mkdir -p "$out" && cd "$out" || exit 1
bless=${FLICK_BLESS:-}
unset "${!FLICK_@}"

# These are the options with which `flick bench engine` compiles kernels.
options=(-O2 -std=c11 -ffp-contract=off -fno-math-errno -fno-vectorize -fno-slp-vectorize -Wno-c23-extensions
  -Wno-deprecated-non-prototype "--embed-dir=$root/examples/data")
echo 'nxp *' >all.place
objects=()
kernels=(integer recursion indirect chase_cache crc32 sort sha256 matrix nbody bfs bytecode strings hashing mix)
for kernel in "${kernels[@]}"; do
  "$flick_cc" "${options[@]}" --flick-place=all.place -c "$root/bench/engine/$kernel.c" -o "$kernel.o" || exit 1
  objects+=("$kernel.o")
done
"$flick_cc" "${options[@]}" "$here/main.c" "${objects[@]}" -o main -lm || exit 1

# valgrind 3.19 does not read clang 19's debug information.
strip -g main
export FLICK_OFFLOAD=require
FLICK_ENGINE=translate valgrind -q --tool=callgrind --instr-atstart=no --combine-dumps=yes \
  --callgrind-out-file=dumps ./main || exit 1

# NAME CALLS INSTRUCTIONS
awk '/^desc: Trigger: Client Request: / { name = $5; calls = $6 }
  /^totals: / && name != "" { print name, calls, $2; name = "" }' dumps >counted

# The NxP's instructions of a further run of a kernel.
instructions() { # KERNEL TIMES
  rm -f stats
  FLICK_ENGINE=interp FLICK_STATS=$PWD/stats ./main "$1" "$2" && awk '$1 == "instructions" { print $2 }' stats
}

# Takes NAME FIGURE. The figure of a crossing is the host's instructions, and that of a kernel the
# host's instructions for each instruction of the NxP.
while read -r name calls count; do
  if [ "$calls" = 0 ]; then
    calls=$(($(instructions "$name" 2) - $(instructions "$name" 1)))
    [ "$calls" -gt 0 ] || continue
  fi
  awk -v n="$name" -v i="$count" -v c="$calls" 'BEGIN { printf "%s %.3f\n", n, i / c }'
done <counted >figures

# The interpreter's share of the NxP's instructions, in percent, where the link has translated the
# code.
"${flick_cc%cc}c++" -O2 "$here/ahead.cpp" -o ahead || exit 1
share() { # ENGINE
  rm -f stats
  FLICK_ENGINE=$1 FLICK_STATS=$PWD/stats ./ahead >/dev/null || return 1
  awk '$1 == "instructions" { n = $2 } $1 == "translations" { n += 1e9 * $2 } END { print n }' stats
}
awk -v ahead="$(share ahead)" -v all="$(share interp)" \
  'BEGIN { printf "interpreted-percent %.3f\n", 100 * ahead / all }' >>figures

# A round trip on the card: instructions of its kernel, and the host's for all of it. A machine without a
# compiler for the card's harts has no kernel.
if [ -e "$build/lib/flick/card/kernel-host.elf" ]; then
  "$flick_cc" -O2 -std=c11 "$here/card.c" -o card || exit 1
  strip -g card
  FLICK_BACKEND=card valgrind -q --tool=callgrind --instr-atstart=no --combine-dumps=yes \
    --callgrind-out-file=card-dumps ./card "$build/lib/flick/libflick-card.so" >>figures || exit 1
  awk '/^desc: Trigger: Client Request: / { name = $5; calls = $6 }
    /^totals: / && name != "" { printf "%s %.3f\n", name, $2 / calls; name = "" }' card-dumps >>figures
  # The same where the kernel and the thread have one hart.
  FLICK_BACKEND=card FLICK_MACHINE=flick-isca20 ./card "$build/lib/flick/libflick-card.so" |
    sed 's/^card-/card-alone-/' >>figures || exit 1
  # Virtual time does not depend on what is translated.
  "$flick_cc" -O2 -std=c11 "$here/card_budgets.c" -o card_budgets || exit 1
  for engine in interp auto translate; do
    FLICK_BACKEND=card FLICK_ENGINE=$engine timeout 60 ./card_budgets "$build/lib/flick/libflick-card.so" \
      >"budgets-$engine" || exit 1
    cmp budgets-interp "budgets-$engine" || exit 1
  done
  # What a handler leaves has executed 600,000 instructions, of which those of its last turn are not counted. As many
  # follow. A turn of interpreted code has 250,000.
  "$flick_cc" -O2 -std=c11 "$here/card_left.c" -o card_left || exit 1
  for engine in interp translate; do
    rm -f stats
    most=7e5
    [ $engine = translate ] || most=12e5
    FLICK_BACKEND=card FLICK_ENGINE=$engine FLICK_STATS=$PWD/stats timeout 60 ./card_left || exit 1
    awk -v most=$most '$1 == "instructions" { good = $2 > 5e5 && $2 < most } END { exit !good }' stats || {
      grep '^instructions' stats
      echo "FAILED: code that a handler leaves ($engine)"
      exit 1
    }
  done
  # Calls through the linkage table have as many instructions by each engine and backend.
  "$flick_cc" -O2 -std=c11 -fPIC -shared -DLIBRARY "$here/linkage.c" -o liblinkage.so &&
    "$flick_cc" -O2 -std=c11 "$here/linkage.c" -L. -llinkage -Wl,-rpath,"$PWD" -o linkage || exit 1
  for backend in inline card; do
    for engine in interp translate; do
      rm -f stats
      FLICK_BACKEND=$backend FLICK_ENGINE=$engine FLICK_STATS=$PWD/stats timeout 60 ./linkage || exit 1
      awk '$1 == "instructions" { print $2 }' stats >>linkage-counts
    done
  done
  if [ "$(sort -u linkage-counts | wc -l)" != 1 ]; then
    echo "FAILED: calls through the linkage table: $(tr '\n' ' ' <linkage-counts)"
    exit 1
  fi
  cp "$limits" all-limits
else
  grep -v '^card-' "$limits" >all-limits
fi

# Instructions of a whole process beyond those of clang's build, in thousands: the start of a program
# with one NxP function, and with 2,000, of which it calls one. That one is no leaf, so the call is a
# crossing.
start() { # NAME FUNCTIONS
  {
    echo '#include <flick.h>'
    echo 'FLICK_NXP __attribute__((noinline)) long f0(long x) { volatile long here = x; return here; }'
    for ((n = 1; n < $2; n++)); do
      echo "FLICK_NXP __attribute__((noinline)) long f$n(long x) { return x * $((n + 3)) + (x >> 2); }"
    done
    echo 'int main(void) { return f0(0) != 0; }'
  } >"$1.c"
  "$flick_cc" -O1 "$1.c" -o "$1" && clang-19 -O1 -I"$root/include" "$1.c" -o "$1-clang" || exit 1
  for program in "$1" "$1-clang"; do
    valgrind -q --tool=callgrind --callgrind-out-file="$program.out" "./$program" || exit 1
  done
  awk -v name="$1" '/^totals:/ { total[FILENAME ~ /-clang/] = $2 }
    END { printf "%s %.3f\n", name, (total[0] - total[1]) / 1000 }' "$1.out" "$1-clang.out"
}
start start-small 1 >>figures
start start-large 2000 >>figures

if [ "$bless" = 1 ]; then
  {
    sed -n '/^#/p' "$limits"
    # Paths and the environment count in a process's start.
    awk '{ printf "%-24s %8.2f\n", $1, $2 * ($1 ~ /^start-/ ? 1.15 : 1.03) + 0.005 }' figures
  } >new && cp new "$limits"
fi

awk -v again='FLICK_BLESS=1 tests/counts/run.sh writes new limits' '
  FNR == NR { if ($1 !~ /^#/ && NF) { limit[$1] = $2; order[++n] = $1 } next }
  { figure[$1] = $2 }
  END {
    printf "    %-24s %10s %10s\n", "host instructions for", "counted", "limit"
    for (i = 1; i <= n; i++) {
      name = order[i]
      good = name in figure && figure[name] <= limit[name]
      # No blessing allows more.
      if (name ~ /-firmware$/ && figure[name] > 600) good = 0
      good ? passed++ : failed++
      better += good && figure[name] < 0.9 * limit[name]
      counted = name in figure ? sprintf("%.2f", figure[name]) : "-"
      printf "    %-24s %10s %10s%s\n", name, counted, limit[name], good ? "" : "  FAILED"
      delete figure[name]
    }
    for (name in figure) { printf "    %-24s has no limit  FAILED\n", name; failed++ }
    if (failed || better) printf "    %d too many, %d at least a tenth better: %s\n", failed, better, again
    printf "%d passed, %d failed\n", passed, failed
    exit failed || !passed
  }' all-limits figures

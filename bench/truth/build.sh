#!/bin/bash
# Builds the programs of `flick bench truth`: each twice from the same sources, by clang, and timed. No function is
# placed on the NxP. OUT/list.toml says what they are.
#
#   bench/truth/build.sh OUT
#
# The programs are listed here before anything is measured: the kernels of `flick bench engine`, pairs of tasks in
# caches and in memory (pairs.c), Lua, SQLite, zlib, bzip2 and zstd of `make realworld` (crates.io), and PolyBench/C
# 4.2.1 (a git repository, or the directory that POLYBENCH names). The first run needs a network.
set -euo pipefail
case ${1:-} in -h | --help | '') sed -n '2,/^set/s/^# \?//p' "$0" | head -n -1 && exit 2 ;; esac
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$root/tests/real/world-projects.sh"
mkdir -p "$1" && out=$(cd "$1" && pwd)
export world=$root/tests/real/world
polybench=https://github.com/MatthiasJReisinger/PolyBenchC-4.2.1 commit=3e872547cef7e5c9909422ef1e6af03cf4e56072
list=$out/list.toml

for_kind() { # KIND
  CC=clang-19 CXX=clang++-19 CFLAGS=-O2
  [ "$1" = plain ] || CC=$flick_cc CXX=$flick_cxx CFLAGS='-O2 --flick-timed'
  export CC CXX CFLAGS
}
program() { # NAME GROUP FILE [ARGUMENT...]   FILE is below plain/ and timed/
  {
    printf '\n[[program]]\nname = "%s"\ngroup = "%s"\nplain = "plain/%s"\ntimed = "timed/%s"\n' "$1" "$2" "$3" "$3"
    printf 'arguments = ['
    for word in "${@:4}"; do printf '"%s", ' "$word"; done
    printf ']\n'
  } >>"$list"
}
echo '# Programs of `flick bench truth`, which bench/truth/build.sh has made. Paths are those of this folder.' >"$list"

for kind in plain timed; do
  for_kind $kind
  mkdir -p "$out/$kind"
  echo "truth: kernels and pairs, $kind"
  $CC $CFLAGS -std=gnu11 -ffp-contract=off -fno-math-errno -Wno-c23-extensions "--embed-dir=$root/examples/data" -o "$out/$kind/kernels" \
    $(ls "$root"/bench/engine/*.c | grep -v bare.c) -lm
  $CC $CFLAGS -Wall -Wextra -o "$out/$kind/pairs" "$here/pairs.c"
done
# What a process takes without a program, which no prediction has.
echo 'int main(void) { return 0; }' | clang-19 -O2 -x c - -o "$out/plain/nothing"
# As many runs as take some 0.1 s.
for name in $("$out/plain/kernels"); do
  best=$("$out/plain/kernels" "$name" 3 | cut -d ' ' -f 1 | sort -n | head -n 1)
  program "$name" kernels kernels "$name" $((100000000 / best + 1))
done
for name in stream gather chase join histogram columns; do
  for where in near far; do
    program "$name, $where" pairs pairs "$name" $where
    printf 'pair = "%s"\n' "$name" >>"$list"
  done
done

for name in lua sqlite zlib bzip2 zstd; do
  SRC=$("$root/scripts/crate-source.sh" "$build/real/world/crates" "$world/Cargo.toml" "$(crate_of "$name")")
  export SRC
  for kind in plain timed; do
    for_kind $kind
    [ ! "$out/$kind/$name/.complete" -nt "$flick" ] || continue
    echo "truth: $name, $kind"
    rm -rf "$out/${kind:?}/$name" && mkdir -p "$out/$kind/$name"
    (
      cd "$out/$kind/$name"
      "build_$name" >build.log 2>&1 || { tail -n 20 build.log >&2 && exit 1; }
      if [ "$name" = sqlite ]; then
        $CC $CFLAGS "-I$SRC/sqlite3" "$root/bench/whole/query.c" obj/sqlite3.o -pthread -ldl -lm -o query
      fi
      touch .complete
    )
  done
done
cp "$root/bench/whole/script.lua" "$root/bench/whole/queries.sql" "$out/"
# 2 MB of C.
if [ ! -s "$out/text" ]; then
  # head ends those in front of it.
  { find "$build/real/world/crates" -name '*.c' -size +20k -print0 | LC_ALL=C sort -z | xargs -0 cat || true; } 2>/dev/null |
    head -c 2000000 >"$out/text"
fi
program 'Lua, a script' real lua/lua "$out/script.lua"
program 'SQLite, ten queries' real sqlite/query "$out/queries.sql"
program 'zlib, both ways' real zlib/zlib "$out/text"
program 'bzip2, 2 MB' real bzip2/bzip2 -k -c "$out/text"
program 'zstd, both ways' real zstd/zstd "$out/text"

if [ -z "${POLYBENCH:-}" ]; then
  POLYBENCH=$out/polybench
  if [ ! -e "$POLYBENCH/utilities/polybench.c" ]; then
    git init -q "$POLYBENCH"
    git -C "$POLYBENCH" fetch -q --depth 1 "$polybench" $commit || { echo 'truth: no PolyBench (no network?)' >&2 && exit 1; }
    git -C "$POLYBENCH" checkout -q FETCH_HEAD
  fi
fi
compile() { # KIND FILE SIZE OUTPUT
  for_kind "$1"
  [ "$4" -nt "$flick" ] || $CC $CFLAGS -w "-D$3_DATASET" "-I$POLYBENCH/utilities" "-I$(dirname "$POLYBENCH/$2")" \
    "$POLYBENCH/utilities/polybench.c" "$POLYBENCH/$2" -lm -o "$4"
}
echo 'truth: PolyBench'
mkdir -p "$out"/{plain,timed}/polybench
while read -r file; do
  name=$(basename "$file" .c)
  # The large data, if that takes less than half a second.
  size=LARGE
  compile plain "$file" $size "$out/plain/polybench/$name-$size"
  timeout 0.5 "$out/plain/polybench/$name-$size" || size=MEDIUM
  for kind in plain timed; do compile $kind "$file" $size "$out/$kind/polybench/$name-$size"; done
  program "$name, $(tr '[:upper:]' '[:lower:]' <<<$size)" PolyBench "polybench/$name-$size"
done < <(sed 's/^\.\///' "$POLYBENCH/utilities/benchmark_list")
echo "truth: $(grep -c '^name' "$list") programs in $list"

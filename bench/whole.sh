#!/bin/bash
# Measures whole processes of real programs with all of their functions on the NxP, beside the same
# that clang built: short jobs of Lua and SQLite, and the own checks of zlib, bzip2, lz4, zstd, Lua
# and SQLite. The table is that of `flick bench process`.
#
#   bench/whole.sh [OPTION of flick bench process]... [jobs | checks]
#
# Without a word it measures both. It needs a built tree (`make build`) and, the first time, a
# network: crates carry the sources, at the versions of tests/real/world/Cargo.lock. The programs are
# those of `make realworld`, built by -O2 from unchanged sources; they stay in build/bench/whole.
# One round of the checks takes about a minute, so `--rounds 3 --cold 0` suits them.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^set/s/^# \?//p' "$0" && exit ;; esac
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scripts/lib.sh"
. "$root/tests/real/world-projects.sh"
out=$build/bench/whole
export world=$root/tests/real/world
options=() parts=()
for word; do
  case $word in jobs | checks) parts+=("$word") ;; *) options+=("$word") ;; esac
done
[ ${#parts[@]} -gt 0 ] || parts=(jobs checks)

# Builds a project as clang does and with all functions placed; `make realworld` compares what they
# print.
build_both() { # PROJECT
  local kind
  SRC=$("$root/scripts/crate-source.sh" "$build/real/world/crates" "$world/Cargo.toml" "$(crate_of "$1")")
  export SRC
  for kind in plain placed; do
    [ ! "$out/$1/$kind/.complete" -nt "$flick" ] || continue
    rm -rf "$out/$1/$kind" && mkdir -p "$out/$1/$kind"
    say "$1: $kind"
    (
      cd "$out/$1/$kind"
      export CC=clang-19 CXX=clang++-19 CFLAGS=-O2
      if [ $kind = placed ]; then
        export CC=$flick_cc CXX=$flick_cxx CFLAGS="-O2 --flick-place=random:1:100"
      fi
      "build_$1" >build.log 2>&1 || { tail -n 20 build.log >&2 && exit 1; }
      if [ "$1" = sqlite ]; then
        $CC $CFLAGS "-I$SRC/sqlite3" "$here/whole/query.c" obj/sqlite3.o -pthread -ldl -lm -o query
      fi
      printf '#!/bin/bash\nset -e\n. %q\nexport CC=%q CFLAGS=%q SRC=%q world=%q\ncd %q\ncheck_%s >/dev/null 2>&1\n' \
        "$root/tests/real/world-projects.sh" "$CC" "$CFLAGS" "$SRC" "$world" "$PWD" "$1" >check.sh
      chmod +x check.sh && touch .complete
    )
  done
}
pair() { # NAME PROJECT COMMAND
  options+=("--plain=$1=$out/$2/plain/$3" "--placed=$1=$out/$2/placed/$3")
}

for part in "${parts[@]}"; do
  case $part in
    jobs)
      build_both lua && build_both sqlite
      pair 'Lua, print(1 + 1)' lua "lua $here/whole/one.lua"
      pair 'Lua, a script of some 20 ms' lua "lua $here/whole/script.lua"
      pair 'SQLite, ten queries' sqlite "query $here/whole/queries.sql"
      ;;
    checks)
      for name in zlib bzip2 lz4 zstd lua sqlite; do
        build_both $name
        pair "own check of $name" $name check.sh
      done
      ;;
  esac
done
exec "$flick" bench process "${options[@]}"

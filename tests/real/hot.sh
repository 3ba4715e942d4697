#!/bin/bash
# Finds the hottest functions of a project, by callgrind over the fixed work of projects.sh. Plain
# clang builds the project without inlining, so that functions are those of the source.
# PROJECT.place is made from the result.
#
#   hot.sh PROJECT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/projects.sh"
[ $# = 1 ] || { echo "usage: hot.sh PROJECT" >&2; exit 2; }
out=$build/real
dir=$out/hot-$1
source=$("$root/scripts/debian-source.sh" "$out/packages" "$1")
rm -rf "$dir"
cp -R "$source" "$dir"
cd "$dir"
export INPUT=$out/input CC=clang-19
# valgrind 3.19 does not read clang 19's debug information.
CFLAGS=$(default_cflags "$1" | sed 's/ -g\b//')
export CFLAGS="$CFLAGS -fno-inline"
[ -f "$INPUT" ] || work_input "$source" >"$INPUT"
"build_$1" >build.log 2>&1 || { tail build.log >&2 && exit 1; }
"work_$1" valgrind -q --tool=callgrind --callgrind-out-file=callgrind.%p
for profile in callgrind.*; do callgrind_annotate --threshold=100 --show-percs=no "$profile"; done | awk '
  $1 ~ /^[0-9,]+$/ && $2 != "PROGRAM" && NF >= 2 {
    gsub(",", "", $1)
    sub(/^[^:]*:/, "", $2)
    self[$2] += $1
    total += $1
  }
  END { for (f in self) printf "%6.2f%% %14d  %s\n", 100 * self[f] / total, self[f], f }' | sort -rn | sed -n '1,20p'

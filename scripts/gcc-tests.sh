#!/bin/bash
# Unpacks GCC's own test programs that run, as upstream wrote them, from the tarball of Debian's
# package gcc-12-source.
#
#   gcc-tests.sh DIR
#
# Prints the directory of the test suite, below DIR. It has only the folders from which
# `make strangers` takes programs. A suite that DIR already has is not unpacked again.
set -euo pipefail
[ $# = 1 ] || { echo "usage: gcc-tests.sh DIR" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)

archives=(/usr/src/gcc-12/gcc-12.*.tar.xz)
archive=${archives[0]}
if [ ! -f "$archive" ]; then
  echo "gcc-tests: $archive is missing; the package gcc-12-source has it (make deps)" >&2
  exit 3
fi
name=$(basename "$archive" .tar.xz)
if [ ! -d "$dir/$name" ]; then
  rm -rf "$dir/$name.part"
  mkdir -p "$dir/$name.part"
  tar -xf "$archive" -C "$dir/$name.part" --strip-components=3 --wildcards \
    '*/gcc/testsuite/gcc.c-torture/execute' '*/gcc/testsuite/gcc.dg/torture' \
    '*/gcc/testsuite/gcc.dg/*.h' '*/gcc/testsuite/gcc.dg/tree-ssa/pr91680.c' \
    '*/gcc/testsuite/g++.dg/torture' '*/gcc/testsuite/g++.dg/eh' ||
    { echo "gcc-tests: cannot unpack $archive" >&2 && exit 3; }
  mv "$dir/$name.part" "$dir/$name"
fi
echo "$dir/$name"

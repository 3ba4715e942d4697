#!/bin/bash
# Makes libflick.a from cargo's archive: one object, in which every reference to libflick's own
# definitions (crates/own) is bound. All symbols but its interface are local. So libflick does not
# use the program's definitions, and the program does not use libflick's.
#
#   static-library.sh CARGOS_ARCHIVE LIBFLICK_A
set -euo pipefail
archive=$1 library=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The interface is the functions that programs call and those that the linker redirects here
# (--wrap). `free` and the other functions of the allocator stay the program's.
llvm-nm-19 --defined-only --extern-only --just-symbol-name "$archive" 2>"$work/nm" |
  grep -E '^(__flick_|__wrap_|flick_)' | sort -u >"$work/offered"
# The object has only the sections that the interface needs. It has no groups, because a group's
# signature would stay visible to the program's objects.
ld -r --gc-sections --force-group-allocation -o "$work/all.o" $(sed 's/^/-u /' "$work/offered") "$archive"
# The linker has kept names that only dropped code refers to. They would draw in parts of the C
# library.
llvm-readelf-19 -rW "$work/all.o" | awk '{ print $5 }' | sort -u >"$work/referred"
llvm-nm-19 --undefined-only --just-symbol-name "$work/all.o" | grep -v ':$' | sort -u |
  comm -23 - "$work/referred" >"$work/unused"
# The references to functions that a program's own allocator may lack are weak. A strong reference
# would draw in the C library's allocator, too (crates/libflick/static/src/malloc.rs).
llvm-objcopy-19 --keep-global-symbols="$work/offered" --strip-symbols="$work/unused" \
  --weaken-symbol=posix_memalign --weaken-symbol=memalign "$work/all.o" "$work/libflick.o"
rm -f "$library"
llvm-ar-19 rcsD "$library" "$work/libflick.o"

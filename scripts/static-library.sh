#!/bin/bash
# Makes libflick.a of what cargo makes: one object in which every reference to what libflick has of its own
# (crates/own) is bound, and whose other symbols are local, so that neither sees the program's nor is seen.
#
#   static-library.sh CARGOS_ARCHIVE LIBFLICK_A
set -euo pipefail
archive=$1 library=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What programs call and what the linker leads here (--wrap). `free` and its kin stay the program's.
llvm-nm-19 --defined-only --extern-only --just-symbol-name "$archive" 2>"$work/nm" |
  grep -E '^(__flick_|__wrap_|flick_)' | sort -u >"$work/offered"
# Only what these need, without groups: a group's signature would stay visible to the program's objects.
ld -r --gc-sections --force-group-allocation -o "$work/all.o" $(sed 's/^/-u /' "$work/offered") "$archive"
# The linker has kept the names that only dropped code refers to: they would bring parts of the C library in.
llvm-readelf-19 -rW "$work/all.o" | awk '{ print $5 }' | sort -u >"$work/referred"
llvm-nm-19 --undefined-only --just-symbol-name "$work/all.o" | grep -v ':$' | sort -u |
  comm -23 - "$work/referred" >"$work/unused"
# A weak reference where a program's own allocator may lack a function: a strong one would bring in the C
# library's allocator besides (crates/libflick-a/src/malloc.rs).
llvm-objcopy-19 --keep-global-symbols="$work/offered" --strip-symbols="$work/unused" \
  --weaken-symbol=posix_memalign --weaken-symbol=memalign "$work/all.o" "$work/libflick.o"
rm -f "$library"
llvm-ar-19 rcsD "$library" "$work/libflick.o"

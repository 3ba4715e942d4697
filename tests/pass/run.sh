#!/bin/bash
# Golden tests of the compiler pass. Each *.c and *.cpp here says in RUN lines how it is compiled and in CHECK
# lines (FileCheck) what must come out.
#   tests/pass/run.sh [FILE...]       FLICK_PASS=path of flick-pass.so (else built into a temporary)
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pass=${FLICK_PASS:-$root/build/lib/flick/flick-pass.so}
if [ ! -e "$pass" ]; then
  pass=$work/flick-pass.so
  make -s -C "$root/pass" OUT="$pass" || exit 1
fi

# What RUN lines may use, besides ordinary commands.
inc=-I$root/include
flick() { "$clang" -D__FLICK__=1 -I"$root/include" -fpass-plugin="$pass" -Xclang -load -Xclang "$pass" "$@"; }
plain() { "$clang" -D__FLICK__=1 -I"$root/include" "$@"; }
check() { FileCheck-19 --dump-input-context=2 "$@"; }
not() { if "$@"; then return 1; else return 0; fi; }
# nxp FAT.o OUT.o: the RV64 object of a fat object
nxp() {
  llvm-objcopy-19 --dump-section=.flick.nxp="$work/raw" "$1" "$work/copy.o" && dd if="$work/raw" of="$2" bs=32 skip=1 status=none
}
# dis FAT.o: RV64 disassembly with relocations
dis() { nxp "$1" "$work/dis.o" && llvm-objdump-19 -dr --no-show-raw-insn "$work/dis.o"; }
# links FAT.o...: their RV64 objects link into an image
links() {
  local fat i=0 objects=()
  for fat; do
    nxp "$fat" "$work/link$i.o" || return 1
    objects+=("$work/link$i.o")
    i=$((i + 1))
  done
  ld.lld-19 -shared -Bsymbolic -z now --fatal-warnings "${objects[@]}" -o "$work/link.so"
}
# known FILE: the functions that LLVM knows by name
known() {
  sed -n 's/^TLI_DEFINE_STRING_INTERNAL("\([A-Za-z0-9_]*\)")$/\1/p' \
    "$(llvm-config-19 --includedir)/llvm/Analysis/TargetLibraryInfo.def" | sort -u >"$1"
}
# places FAT.o: the placement lines
# (not by way of /dev/stdout: where root runs this, llvm-objcopy may replace the link by a file)
places() { llvm-objcopy-19 --dump-section=.flick.place="$work/places" "$1" "$work/copy.o" && cat "$work/places"; }

passed=0 failed=0
cd "$here" || exit 1
[ $# -gt 0 ] || set -- *.c *.cpp
for file; do
  s=$file t=$work/${file%.*} good=1 runs=0
  case $file in *.cpp) clang=clang++-19 ;; *) clang=clang-19 ;; esac
  while IFS= read -r line; do
    runs=$((runs + 1))
    if ! (s=$s t=$t; eval "$line") >"$work/log" 2>&1; then
      echo "FAIL $file: $line"
      sed 's/^/  /' "$work/log" | head -40
      good=0
      break
    fi
  done < <(sed -n 's|^// RUN: *||p' "$file")
  [ $runs -gt 0 ] || echo "FAIL $file: it has no RUN line"
  if [ $good = 1 ] && [ $runs -gt 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]

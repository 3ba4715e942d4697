#!/bin/bash
# Checks the tools' output for users: reasons in `flick stat`, names of C++, `flick config`, man
# pages and completions, the Debian package. It needs a built tree, and prints `ok` or `FAIL` for
# each check.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

check() { # NAME COMMAND...
  local name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok   $name"
  else
    failed=$((failed + 1))
    echo "FAIL $name"
    tail -n 40 "$work/log" | sed 's/^/     /'
  fi
}
# Checks that each of the patterns (basic regular expressions) is in the file.
has() { # FILE PATTERN...
  local file=$1 pattern status=0
  shift
  for pattern in "$@"; do
    grep -q -- "$pattern" "$file" || { echo "no match for: $pattern"; status=1; }
  done
  [ $status = 0 ] || cat "$file"
  return $status
}

cd "$work" || exit 1
cat >a.c <<'END'
#include <flick.h>
#include <stdio.h>
static inline long square(long x) { return x * x; }
FLICK_HOST long kept(long x) { return x + 1; }
FLICK_NXP long work(long x) { return square(x) + kept(x); }
FLICK_NXP long idle(long x) { return x - 1; }
FLICK_NXP long early(long x) { return x * 3; }
long refused(long x) {
  __asm__("cpuid");
  return x;
}
static void first(void) {
  volatile long v = early(2);
  (void)v;
}
__attribute__((section(".preinit_array"), used)) static void (*before)(void) = first;
int main(int count, char **v) {
  long sum = 0;
  for (int i = 0; i < 5; i++) sum += work(i);
  if (count > 5) idle(3);
  printf("%ld %ld\n", sum, refused(2));
  (void)v;
  return 0;
}
END
printf 'nxp ref*\nnxp nothing*\n' >place.txt
"$flick_cc" -O1 -g a.c --flick-place=place.txt -c -o a.o && "$flick_cc" a.o -o a || exit 1
cat >b.cpp <<'END'
#include <cstdio>
#include <flick.h>
namespace shape {
struct box {
  long w, h;
  long area() const;
};
FLICK_NXP long box::area() const { return w * h; }
}  // namespace shape
FLICK_HOST __attribute__((noinline)) void say(long n) { std::printf("%ld\n", n); }
FLICK_NXP __attribute__((noinline)) void tell(const shape::box &b) { say(b.area()); }
int main() {
  shape::box b{6, 7};
  tell(b);
  return b.area() != 42;
}
END
"$build/bin/flick-c++" -O1 -g b.cpp -o b || exit 1
cat >lines.c <<'END'
#include <flick.h>
static volatile long total;
static inline long mix(long a, long b) {
  return (a ^ b << 3) + total;
}
FLICK_NXP __attribute__((noinline)) long spin(long n) {
  long a = 1;
  for (long i = 0; i < n; i++) {
    total += a;
    a = mix(a, i);
  }
  return a;
}
int main(void) { return spin(100) == 0; }
END

reasons() {
  "$flick" stat -o report ./a && has report '5  work  *on nxp' \
    'kept  on host, a: marked in the source (a.c:4)' \
    'early  on host, a: called before Flick.s constructor ran' \
    'refused  *on host: cannot be placed \[FLK0202\]: inline assembly.*(a.c:8)' \
    'idle  *on nxp: never called from the host' 'square  *on both sides' \
    'place.txt:2: nxp nothing'
}
switched_off() {
  FLICK_OFFLOAD=off "$flick" stat -o report ./a &&
    has report '5  work  *on host, a: FLICK_OFFLOAD=off, set where flick stat was started' &&
    "$flick" stat -o report env FLICK_OFFLOAD=off ./a &&
    has report 'FLICK_OFFLOAD=off, set by the program that started it' ' 0  crossings'
}
without_flick() {
  clang-19 -I"$root/include" a.c -o plain && "$flick" stat -o report ./plain &&
    has report 'no record of crossings: it has no NxP code: it was built without flick'
}
demangled() {
  "$flick" stat -o report ./b && has report 'shape::box::area() const  *on nxp' 'say(long)  *on host' &&
    "$flick" place --explain b >table && has table '^shape::box::area() const ' &&
    "$flick" objdump -d b >code && has code '<shape::box::area() const>:' '<say(long) on the host>'
}
mangled_on_request() {
  "$flick" stat --no-demangle -o report ./b && has report '_ZNK5shape3box4areaEv  *on nxp' &&
    "$flick" place --explain --no-demangle b >table && has table '^_ZNK5shape3box4areaEv ' &&
    "$flick" objdump -d --no-demangle b >code && has code '<_ZNK5shape3box4areaEv>:'
}
translated_code() {
  FLICK_ENGINE=translate "$flick" stat -o report ./b && has report 'B  translated code  *# [0-9.]* times the .*B of RV64 code used' &&
    FLICK_ENGINE=interp "$flick" stat -o report ./b && ! has report 'translated code' &&
    "$flick" objdump --translated '--disassemble=shape::box::area() const' b >code &&
    has code '<shape::box::area() const>:' '^x86-64 in the file: [0-9]* bytes of code' ':	retq$' && ! has code '<main>' &&
    addresses_shown >shown && addresses_in_file >in_file && [ -s shown ] && cmp shown in_file &&
    strip -o stripped b && "$flick" objdump --translated stripped >code && has code '^x86-64 in the file: ' &&
    translated_at_run_time
}
# The instructions of the listing are those of the file's code, at their addresses.
addresses_shown() {
  "$flick" objdump --translated b | sed -nE 's/^ +(cold +)?([0-9a-f]+):\t[^ ]+.*/\2/p' | sort -u
}
addresses_in_file() {
  local symbol
  nm b | awk '$3 ~ /\.nxp$/ { print $3 }' | while read -r symbol; do
    objdump -d "--disassemble=$symbol" b | sed -nE 's/^ +([0-9a-f]+):\t.*/\1/p'
  done | sort -u
}
translated_at_run_time() {
  "$flick_cxx" -O1 --flick-translate=run b.cpp -o b-run && "$flick" objdump --translated b-run >code &&
    has code '^x86-64: [0-9]* bytes of code' ':	retq$' && ! has code 'in the file'
}
verified() {
  local offset
  "$flick" verify a b >lines && has lines '^a: [0-9]* functions, [0-9]* bytes of x86-64 code, ' '^b: .*as this flick makes them$' &&
    offset=$(objdump -h -j .text b | awk '$2 == ".text" { print $4, $6 }') &&
    offset=$((0x$(nm b | awk '$3 ~ /\.nxp$/ { print $1; exit }') - 0x${offset% *} + 0x${offset#* })) &&
    cp b damaged && printf '\314' | dd of=damaged bs=1 seek=$offset conv=notrunc status=none &&
    ! "$flick" verify damaged 2>message && has message 'FLK0311.*damaged: .*\.nxp+0x0 (code 0x.*has 0xcc, and this flick makes'
}
# The addresses within `spin.nxp`.
addresses_of_spin() { # FILE
  local start size at
  read -r start size < <(nm -S "$1" | awk '$4 == "spin.nxp" { print $1, $2 }')
  for ((at = 0; at < 0x$size; at++)); do printf '%x\n' $((0x$start + at)); done
}
# Binutils know the lines of translated code, however the program is linked.
lines_of_translated_code() {
  local options linker
  for linker in lld bfd; do
    for options in '' -static -no-pie '-shared -fPIC' '-gdwarf-4 -Wl,--gc-sections' -gsplit-dwarf -g1; do
      # shellcheck disable=SC2086 # They are several words.
      "$flick_cc" -O1 -g -fuse-ld=$linker $options lines.c -o lines || return 1
      addresses_of_spin lines | addr2line -e lines -f -i -p >places
      has places '^spin at .*/lines.c:9$' '^ (inlined by) spin at .*/lines.c:10$' \
        '^mix at .*/lines.c:4$' '^spin at .*/lines.c:12$' || { echo "with -fuse-ld=$linker $options"; return 1; }
    done
  done
  "$flick_cc" -O1 -g lines.c -o lines && "$flick_cc" -O1 -g lines.c -o again && cmp lines again &&
    objdump -dl --disassemble=spin.nxp lines >code && has code '^mix():$' '/lines.c:4$' '^spin():$' '/lines.c:12$' &&
    addresses_of_spin lines >addresses && addr2line -e lines -f -i -p <addresses >places &&
    cp lines stripped && objcopy --only-keep-debug lines lines.debug && strip stripped &&
    objcopy --add-gnu-debuglink=lines.debug stripped &&
    addr2line -e stripped -f -i -p <addresses >apart && cmp places apart &&
    "$flick_cc" -O1 lines.c -o without && ! readelf -SW without | grep '[.]debug_' | grep -v '[.]debug_frame '
}
record_keeps_symbols() {
  FLICK_STATS=$work/record ./b >/dev/null && has record '^call host-to-nxp 1 _ZNK5shape3box4areaEv'
}
config() {
  env -u FLICK_OFFLOAD "$flick" config >out && has out 'FLICK_OFFLOAD  *auto  *(default)' 'clang-19 .*found in PATH' &&
    FLICK_TRIGGER=fault "$flick" config --json >out && has out '"value": "fault"'
}
config_refuses() {
  ! FLICK_OFFLOAD=maybe "$flick" config >out && has out '\[FLK0404\] FLICK_OFFLOAD=maybe' &&
    ! FLICK_TRIGER=gate "$flick" config >out && has out 'FLICK_TRIGER is no variable of Flick'
}
man_pages() {
  local page status=0
  for page in "$build"/share/man/man1/*.1; do
    if command -v mandoc >/dev/null; then
      # It has no date on purpose.
      mandoc -Tlint -Wwarning "$page" | grep -v 'missing date' && status=1
    elif command -v groff >/dev/null; then
      [ -z "$(groff -man -Tutf8 -ww -z "$page" 2>&1)" ] || status=1
    fi
  done
  [ -s "$build/share/man/man1/flick.1" ] && [ -s "$build/share/man/man1/flick-c++.1" ] && return $status
}
completions() {
  bash -n "$build/share/bash-completion/completions/flick" &&
    bash -c '. "$1"; COMP_WORDS=(flick st); COMP_CWORD=1; _flick flick st flick; [ "${COMPREPLY[*]}" = stat ]' \
      - "$build/share/bash-completion/completions/flick" &&
    { ! command -v zsh >/dev/null || zsh -n "$build/share/zsh/vendor-completions/_flick"; } &&
    { ! command -v fish >/dev/null || fish -n "$build/share/fish/vendor_completions.d/flick.fish"; }
}
package() {
  local deb
  deb=$("$root/packaging/deb.sh" "$build" "$work/deb") && dpkg-deb -c "$deb" >list && dpkg-deb -f "$deb" >control &&
    has list ' ./usr/bin/flick$' ' ./usr/bin/flick-cc -> flick$' ' ./usr/lib/flick/libflick.so.1$' \
      ' ./usr/lib/flick/libflick-debug.so$' \
      ' ./usr/share/man/man1/flick-cc.1.gz$' ' ./usr/share/doc/flick/copyright$' \
      ' ./usr/share/gdb/auto-load/usr/lib/flick/libflick.so.1-gdb.py$' &&
    has control '^Version: ' 'clang-19, lld-19, binutils, libc6-dev' || return 1
  dpkg-deb -x "$deb" unpacked && readelf -SW unpacked/usr/lib/flick/libflick.so.1 >sections &&
    has sections ' [.]debug_frame ' && ! grep -q ' [.]debug_info ' sections || return 1
  # Only errors count, because the set of warnings changes with lintian's version.
  ! command -v lintian >/dev/null || lintian --allow-root --fail-on error "$deb" || lintian --fail-on error "$deb"
}

check "flick stat says why" reasons
check "flick stat says who switched offload off" switched_off
check "flick stat of a program without flick" without_flick
check "C++ names as in the source" demangled
check "--no-demangle" mangled_on_request
check "translated code" translated_code
check "flick verify" verified
check "lines of translated code" lines_of_translated_code
check "records keep the linker's names" record_keeps_symbols
check "flick config" config
check "flick config refuses" config_refuses
check "man pages" man_pages
check "completions" completions
if command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null; then
  check "Debian package" package
else
  echo "skipped: Debian package (no dpkg-dev)"
  if [ -z "${CI:-}" ]; then skipped=1; else failed=$((failed + 1)); fi
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]

# Objects, programs, libraries, the runtime and Flick's own files, each of another version than the
# rest: every mixture is refused by what meets it first, or runs.
. "$FLICK_TEST_ERRORS/lib.sh"
two_objects
tree=$(dirname "$(dirname "$flick")")
read -r offset size < <(section part.o .flick.nxp)
# A version as it stands in files: 16 bits minor, 16 bits major, little-endian.
read -r minor < <(od -An -tu2 -j$((offset + 8)) -N2 part.o)
own=1.$minor later=1.$((minor + 1))
older='\0\0\0\0' newer=$(printf '\\%o\\0\\1\\0' $((minor + 1))) next='\0\0\2\0'

# Objects, alone and in an archive.
for version in "$older:0.0:build it again" "$newer:$later:newer Flick" "$next:2.0:newer Flick"; do
  IFS=: read -r bytes text help <<<"$version"
  cp part.o bad.o && put bad.o $((offset + 8)) "$bytes"
  refuses FLK0303 bad.o "$text" "reads $own" "$help" -- "$cc" main.o bad.o -o prog
  rm -f libbad.a && ar rcs libbad.a bad.o
  refuses FLK0303 'libbad.a(bad.o)' "$text" -- "$cc" main.o libbad.a -o prog
  [ ! -e prog ] || die "a program was left behind"
done
# Placement lines of a later format.
cp part.o bad.o
read -r at _ < <(section bad.o .flick.place)
put bad.o "$at" 'v2'
refuses FLK0303 bad.o 'v2' -- "$cc" main.o bad.o -o prog

# Programs and libraries. The record is `__flick_module`; its version is the third word.
"$cc" main.o part.o -o prog
cat >host.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  if (!dlopen("./libpart.so", RTLD_NOW))
    puts(dlerror());
  puts("went on");
  return 0;
}
C
"$cc" -fPIC -shared part.c -o libpart.so
clang-19 host.c -o loads
clang-19 main.o -L. -lpart -Wl,-rpath,"$PWD" -o links
module_version() {
  local address start at type from size
  address=$(nm "$1" | awk '$3 == "__flick_module" { print $1 }')
  while read -r _ type start at size _; do
    [ "$type" = PROGBITS ] || continue
    from=$((16#$address - 16#$start))
    if [ $from -ge 0 ] && [ $from -lt $((16#$size)) ]; then
      echo $((16#$at + from + 8))
      return
    fi
  done < <(readelf -SW "$1" | sed -n 's/^ *\[ *[0-9]*\] *//p')
}
cp libpart.so good.so
for version in "$older:0.0:link it again" "$newer:$later:newer Flick" "$next:2.0:newer Flick"; do
  IFS=: read -r bytes text help <<<"$version"
  cp prog bad && put bad "$(module_version bad)" "$bytes"
  status 125 ./bad
  has err '[FLK0401]' ./bad "format $text" "libflick.so.1 has $own" "$help"
  [ ! -s out ] || die "main ran"
  cp good.so libpart.so && put libpart.so "$(module_version libpart.so)" "$bytes"
  status 125 ./loads
  has err '[FLK0401]' ./libpart.so "format $text"
  status 125 ./links
  has err '[FLK0401]' libpart.so "format $text"
done
cp good.so libpart.so
status 0 ./links
has out 42
status 0 ./loads
has out 'went on'

# Code for other instructions: what the engine has is enough.
"$cc" --nxp-march=rv64gc -c part.c -o gc.o
"$cc" --nxp-march=rv64gc_zicond -c part.c -o zicond.o
"$cc" --nxp-march=rv64gcv_zvl512b -c part.c -o vector.o
for set in gc:rv64imafdc_zicsr_zifencei zicond:rv64imafdc_zicond_zicsr_zifencei part:rv64imafdc_zicsr_zifencei_zba_zbb_zbs; do
  "$cc" main.o "${set%%:*}.o" -o bad
  grep -qaF "${set#*:}" bad || die "$set: not in the program"
  status 0 ./bad
  has out 42
done
sed -i 's/_zbs/_zbc/' bad
status 125 ./bad
has err '[FLK0401]' ./bad rv64imafdc_zicsr_zifencei_zba_zbb_zbc 'rv64 with i, m, a, f, d, c, v, zicond'
[ ! -s out ] || die "main ran"

# Vector registers that are too small; the program's own choice is large enough.
"$cc" main.o vector.o -o bad
status 0 ./bad
has out 42
FLICK_VLEN=512 status 0 ./bad
FLICK_VLEN=256 status 125 ./bad
has err '[FLK0401]' ./bad rv64imafdcv_zicsr_zifencei_zvl512b 'needs 512 bits' FLICK_VLEN
FLICK_VLEN=100 status 125 ./bad
has err '[FLK0404]' FLICK_VLEN=100

# Programs ask for the major version that they were linked with, and find no other.
readelf -d prog | grep -q 'NEEDED.*\[libflick.so.1\]' || die "the program does not ask for libflick.so.1"
readelf -d "$tree/lib/flick/libflick.so" | grep -q 'SONAME.*\[libflick.so.1\]' || die "no soname"

# Tools that look into files of another version.
cp prog bad
read -r at _ < <(section bad .note.flick)
put bad $((at + 20)) "$next"
for tool in "objdump -d" "place --explain"; do
  refuses FLK0303 bad 2.0 'newer Flick' -- "$flick" $tool bad
done

# An installation of which one file is of another version.
changed() { # FILE COMMAND...
  local file=$1
  shift
  rm -rf tree && mkdir -p tree/bin && cp -r "$tree/lib" "$tree/include" tree/ && cp "$flick" tree/bin/flick && ln -s flick tree/bin/flick-cc
  "$@"
  refuses FLK0303 "$file" 'install Flick again' -- tree/bin/flick-cc main.o part.o -o other
}
note() { # FILE: changes the version in its note
  local at
  read -r at _ < <(section "$1" .note.flick)
  put "$1" $((at + 20)) "$older"
}
changed flickcrt.o note tree/lib/flick/flickcrt.o
changed libflick.so note tree/lib/flick/libflick.so.1
changed flickcrt.o objcopy -R .note.flick tree/lib/flick/flickcrt.o
library() {
  (cd tree/lib/flick && llvm-ar-19 x libnxp.a version.o && note version.o && llvm-ar-19 r libnxp.a version.o)
}
changed libnxp.a library
# The pass is asked by each compile.
pass=$tree/lib/flick/flick-pass.so
refuses FLK0303 flick-pass.so 'install Flick again' -- \
  clang-19 -fpass-plugin="$pass" -Xclang -load -Xclang "$pass" -mllvm -flick-abi=$((65536 + minor + 1)) -c main.c -o x.o

# Another clang under the name that Flick looks for: one that cannot load the pass.
if command -v clang-16 >/dev/null; then
  mkdir old && printf '#!/bin/sh\nexec clang-16 "$@"\n' >old/clang-19 && chmod +x old/clang-19
  refuses FLK0102 old/clang-19 'clang 16' 'apt-get install clang-19' -- \
    env PATH="$PWD/old:$PATH" "$cc" -c part.c -o x.o
fi
# One that says so and fails, for machines without an old one.
mkdir fake && cat >fake/clang-19 <<'C'
#!/bin/sh
[ "$1" = --version ] && echo 'Debian clang version 18.1.8 (1)' && exit
echo "error: unable to load plugin" >&2
exit 1
C
chmod +x fake/clang-19
refuses FLK0102 fake/clang-19 'clang 18.1.8' -- env PATH="$PWD/fake:$PATH" "$cc" -c part.c -o x.o
# With the right clang a failed compile is the compiler's own matter.
echo 'int x = y;' >wrong.c
status 1 "$cc" -c wrong.c
! grep FLK err || die "$(cat err)"

# A static program with NxP code loads a library with NxP code: each brings a runtime.
sed 's/clang-19 host.c//; s/puts("went on")/printf("%d\\n", sum(table, 4))/; s/^int main/int sum(const int *, int); extern int table[]; &/' host.c >both.c
"$cc" -static both.c part.c -o both 2>/dev/null
refuses FLK0405 'statically linked program' 'without -static' -- ./both
clang-19 -static host.c -o plain-static 2>/dev/null
status 0 ./plain-static
has out 'went on'

# A library for a runtime of another major version.
cp good.so libpart.so
sed -i 's/libflick\.so\.1/libflick.so.2/' libpart.so
readelf -d libpart.so | grep -q 'NEEDED.*libflick.so.2' || die "not changed"
refuses FLK0303 libpart.so libflick.so.2 libflick.so.1 -- "$cc" main.o -L. -lpart -o prog2
status 127 ./links
has err libflick.so.2

#!/bin/bash
# Checks that libflick calls no function that a program or a preloaded library defines. A program
# defines every name of the C library's that libflick, and the libraries linked into it, refer to.
# Then it uses all parts of the runtime. The names come from the symbols of the built files, so that
# a new dependency is tested by itself.
#
#   run.sh
#
# The last line is `N passed, N failed`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
work=$(mktemp -d)
[ -n "${KEEP:-}" ] && echo $work || trap 'rm -rf "$work"' EXIT
cd "$work"
lib=$build/lib/flick
passed=0 failed=0
export FLICK_ROOT=$build
ok() { # NAME COMMAND...
  local name=$1
  shift
  if "$@" >log 2>&1; then
    passed=$((passed + 1))
  else
    echo "failed: $name"
    sed 's/^/    /' log
    failed=$((failed + 1))
  fi
}

libc=$(clang-19 -print-file-name=libc.so.6)
libgcc=$(clang-19 -print-file-name=libgcc_s.so.1)
libm=$(clang-19 -print-file-name=libm.so.6)
names() { awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u; }
# Only functions count, because data of the C library cannot be a function of the program's.
nm -D --defined-only "$libc" "$libm" | grep -E ' [TWi] ' | names >of-libc
# All symbols of the runtime, also those that it defines itself, and the symbols that libgcc needs.
{
  llvm-nm-19 "$lib/libflick.so"
  llvm-nm-19 "$CARGO_TARGET_DIR/release/libflick_static.a" 2>/dev/null
  nm -D --undefined-only "$libgcc"
  nm -D --undefined-only "$lib/libflick-debug.so"
} | names | comm -12 - of-libc >reached
# Names that the C language reserves for the library, and names that carry the program's own calls.
# The runtime interposes these (libflick.so exports them), or gets NxP code's blocks from them.
nm -D --defined-only "$lib/libflick.so" | names >offered
grep -Ev '^(_|$)' reached | comm -23 - offered | grep -Evx 'malloc|calloc|memalign|posix_memalign|aligned_alloc' >asked
# The names that working.c defines. No other function of the list may be called.
clang-19 -O1 -fno-builtin -fPIC -c "$here/working.c" -o working.o
nm --defined-only --extern-only working.o | names >working
comm -23 asked working >never
echo "$(wc -l <asked) names: $(tr '\n' ' ' <asked)"

imports_are_kept_names() {
  # Blocks of the program's own heap are NxP code's where the process's `free` is another's.
  local more
  more=$(nm -D --undefined-only "$lib/libflick.so" | names | grep -Evx '_.*|malloc|calloc|memalign' || true)
  [ -z "$more" ] || { echo "libflick.so imports $more" && false; }
}
ok "libflick.so imports kept names" imports_are_kept_names
static_needs_kept_names() {
  local more
  more=$(llvm-nm-19 --undefined-only "$lib/libflick.a" | names | grep -Evx '(.*:)?|_.*|malloc|calloc|memalign|realloc|free|pthread_(create|join)' || true)
  [ -z "$more" ] || { echo "libflick.a needs $more" && false; }
}
ok "libflick.a needs kept names" static_needs_kept_names

# A program without NxP code prints the names that it reaches itself, through the C and C++
# libraries. These are left out.
definitions() { # OUT
  {
    while read -r name; do
      printf '.globl %s\n.type %s,@function\n%s: lea 1f(%%rip), %%rsi\n mov $2f-1f, %%edx\n jmp called\n' "$name" "$name" "$name"
      printf '.pushsection .rodata\n1: .ascii "%s\\n"\n2:\n.popsection\n.size %s, .-%s\n' "$name" "$name" "$name"
    done
    # Writes the name to descriptor 9, or 2, and ends the process.
    cat <<'END'
called: mov $1, %eax
 mov $9, %edi
 syscall
 mov $231, %eax
 mov $99, %edi
 syscall
.section .note.GNU-stack,"",@progbits
END
  } >definitions.s
  clang-19 -c definitions.s -o "$1"
}

plain=(-O1 -fno-builtin -w "-I$build/include" -pthread)
clang-19 "${plain[@]}" -fPIE -c "$here/main.c" -o main.o
clang-19 "${plain[@]}" -fPIE -DTHROWS -c "$here/main.c" -o main-throws.o
clang++-19 "${plain[@]}" -fPIE -c "$here/throws.cpp" -o throws.o
"$flick_cc" "${plain[@]}" -fPIE -c "$here/main.c" -o flick-main.o
"$flick_cc" "${plain[@]}" -fPIE -DTHROWS -c "$here/main.c" -o flick-main-throws.o
"$flick_cxx" "${plain[@]}" -fPIE -c "$here/throws.cpp" -o flick-throws.o

same() { # PROGRAM STATISTICS...
  local program=$1 status=0
  shift
  "$@" "./$program" 9>called >output 2>err || status=$?
  # The C and C++ libraries of a static program call the program's functions for their own purposes.
  # The number of these calls is not compared.
  case $program in *-static-* | c++*) filter='^[0-9]*$' ;; *) filter='^$' ;; esac
  if [ $status != 0 ] || ! diff <(grep -v "$filter" expected) <(grep -v "$filter" output); then
    echo "status $status, called: $(cat called)"
    head -n 5 err
    return 1
  fi
}

for kind in c c++; do
  objects=main.o flick_objects=flick-main.o driver=clang-19 flick_driver=$flick_cc
  if [ $kind = c++ ]; then
    objects='main-throws.o throws.o' flick_objects='flick-main-throws.o flick-throws.o'
    driver=clang++-19 flick_driver=$flick_cxx
  fi
  for mode in -pie -no-pie -static; do
    cp never left
    while :; do
      definitions definitions.o <left
      : >called
      if ! "$driver" "$mode" -pthread $objects working.o definitions.o -o plain 2>err; then
        # The linker refuses names that are defined together with other parts of the C library.
        sed -n "s/.*multiple definition of \`\([^']*\)'.*/\1/p" err | sort -u >called
      elif ./plain 9>called >expected 2>err; then
        break
      fi
      [ -s called ] && grep -qxf called left || { echo "the plain program ended: $(cat err)"; exit 1; }
      grep -vxf called left >less
      mv less left
    done
    echo "$kind $mode: $(wc -l <left) of $(wc -l <never) names must not be called"
    for linker in bfd lld; do
      program=$kind$mode-$linker
      "$flick_driver" "$mode" "-fuse-ld=$linker" -pthread $flick_objects working.o definitions.o -o "$program"
      export FLICK_OFFLOAD=require
      ok "$program" same "$program"
      ok "$program, interpreted" same "$program" env FLICK_ENGINE=interp FLICK_TRIGGER=fault
      ok "$program, translated, counted" same "$program" env FLICK_ENGINE=translate "FLICK_STATS=$work/record"
      ok "$program, timed" same "$program" env FLICK_PLATFORM=flick-isca20 FLICK_STATS=1
      if [ "$mode" != -static ]; then
        "$flick_driver" "$mode" "-fuse-ld=$linker" -pthread --flick-translate=run $flick_objects working.o definitions.o -o "$program"
        ok "$program, code for gdb" same "$program" env FLICK_GDB=on
      fi
      unset FLICK_OFFLOAD
    done
  done
done

# Now the definitions are in a library in front of all others.
cp never left
while :; do
  definitions definitions.o <left
  clang-19 -shared working.o definitions.o -o libpreload.so
  clang-19 -pthread main.o -o plain
  if LD_PRELOAD=$work/libpreload.so ./plain 9>called >expected 2>err; then break; fi
  [ -s called ] || { echo "the plain program ended: $(cat err)"; exit 1; }
  grep -vxf called left >less
  mv less left
done
echo "preloaded: $(wc -l <left) of $(wc -l <never) names must not be called"
ok "preloaded: link" "$flick_cc" -pthread flick-main.o -o preloaded
ok "preloaded" same preloaded env "LD_PRELOAD=$work/libpreload.so"
ok "preloaded, counted" same preloaded env "LD_PRELOAD=$work/libpreload.so" FLICK_STATS=1
ok "preloaded: link for code at run time" "$flick_cc" -pthread --flick-translate=run flick-main.o -o preloaded
ok "preloaded, code for gdb" same preloaded env "LD_PRELOAD=$work/libpreload.so" FLICK_GDB=on

echo "$passed passed, $failed failed"
[ $failed = 0 ]

#!/bin/bash
# Checks that a Flick program is an ordinary program for the system: one ELF file, no helper
# process, no environment, any directory, any user. It prints `ok` or `FAIL` for each check, and
# exits with 1 if one failed.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
failed=0

check() { # NAME COMMAND...
  local name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    echo "ok   $name"
  else
    echo "FAIL $name"
    sed 's/^/     /' "$work/log"
    failed=1
  fi
}

"$flick_cc" -O2 "$root/examples/callbacks/callbacks.c" -o "$work/dynamic" || exit 1
"$flick_cc" -O2 -static "$root/examples/callbacks/callbacks.c" -o "$work/static" || exit 1
clang-19 -O2 -I"$root/include" "$root/examples/callbacks/callbacks.c" -o "$work/plain" || exit 1
"$work/plain" >"$work/expected"

one_x86_elf() {
  file -b "$1" | grep -q '^ELF 64-bit LSB .*x86-64' &&
    readelf -h "$1" | grep 'Machine:.*X86-64' >/dev/null
}
no_writable_code() {
  readelf -lW "$1" | grep GNU_STACK >/dev/null && ! readelf -lW "$1" | grep -E ' RWE ' >/dev/null
}
no_needed_but_flick_and_libc() {
  readelf -dW "$1" | awk '/NEEDED/ { gsub(/[][]/, "", $NF); print $NF }' | sort | tr '\n' ' ' |
    grep -Eqx '(libc\.so\.6 |libflick\.so(\.[0-9]+)* |libm\.so\.6 |libgcc_s\.so\.1 )+'
}
same_output() { # COMMAND...
  "$@" >"$work/got" && cmp "$work/expected" "$work/got"
}
no_helper_process() {
  strace -f -qq -e trace=process -o "$work/trace" "$1" >"$work/got" || return 1
  cmp "$work/expected" "$work/got" || return 1
  # There is one execve, and no other process or thread.
  [ "$(grep -c execve "$work/trace")" = 1 ] && ! grep -Eq '(clone3?|v?fork)\(' "$work/trace"
}
crosses() {
  FLICK_STATS="$work/record" "$1" >/dev/null && grep -Eq '^call host-to-nxp [1-9]' "$work/record" &&
    grep -Eq '^call nxp-to-host [1-9]' "$work/record"
}
as_nobody() {
  if [ "$(id -u)" = 0 ]; then
    # The tree of a root user may be closed to others: take the program and its library along.
    mkdir -p "$work/nobody" && cp "$work/static" "$work/nobody/" && chmod -R a+rX "$work/nobody"
    setpriv --reuid=65534 --regid=65534 --clear-groups "$work/nobody/static" >"$work/got"
  else
    "$work/dynamic" >"$work/got"
  fi && cmp "$work/expected" "$work/got"
}
random_addresses() {
  local i
  for i in 1 2 3 4 5; do same_output "$1" || return 1; done
}
plain_link_fails() {
  "$flick_cc" -c "$root/examples/hello/hello.c" -o "$work/hello.o" || return 1
  ! gcc "$work/hello.o" -o "$work/hello" 2>"$work/message" && grep -q FLK0301 "$work/message"
}

for kind in dynamic static; do
  check "$kind: one x86-64 ELF" one_x86_elf "$work/$kind"
  check "$kind: no segment is writable and executable" no_writable_code "$work/$kind"
  check "$kind: output is that of plain clang" same_output "$work/$kind"
  check "$kind: it crosses in both directions" crosses "$work/$kind"
  check "$kind: strace sees one process" no_helper_process "$work/$kind"
  check "$kind: no environment" same_output env -i "$work/$kind"
  check "$kind: five runs under address randomisation" random_addresses "$work/$kind"
  cd / && check "$kind: from another directory" same_output "$work/$kind"
done
check "dynamic: needs libflick and libc only" no_needed_but_flick_and_libc "$work/dynamic"
check "as a normal user" as_nobody
check "a plain gcc link says what to do" plain_link_fails
exit $failed

#!/bin/bash
# Accelerators without a kernel: the program of a root sets them up, and serves files to them.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/accelerators
mkdir -p "$work"
cd "$work"
headers=$build/obj/include
source=$here/accelerators

for program in chain requests; do
  clang-19 --target=riscv64-unknown-elf -march=rv64gc -mabi=lp64d -mcmodel=medany -O2 -Wall -Wextra -Werror \
    -nostdlib -static -ffreestanding -fuse-ld=lld -Wl,--image-base=0x80000000 -I"$headers" -o $program "$source/$program.c"
  verdict $? "$program is compiled"
  for options in "" "--timed" "--engine interp"; do
    # shellcheck disable=SC2086
    timeout 120 "$flick" machine run --machine "$source/$program.toml" $options --firmware $program </dev/null >$program.out 2>&1
    verdict $? "$program ends${options:+ with $options}"
    diff "$source/$program.expected" $program.out
    verdict $? "what $program prints${options:+ with $options}"
  done
done

# A snapshot while steps are made: what follows is as in the run without one.
for at in 200000 500000; do
  of=("$flick" machine run --machine "$source/requests.toml" --firmware requests)
  timeout 60 "${of[@]}" --snapshot-at $at --snapshot requests.snapshot </dev/null >/dev/null 2>&1
  timeout 60 "${of[@]}" --restore requests.snapshot </dev/null >restored.out 2>&1
  verdict $? "requests goes on from a snapshot at $at"
  tail -n "$(wc -l <restored.out)" "$source/requests.expected" | diff - restored.out
  verdict $? "what requests prints behind a snapshot at $at"
done

# What a machine file says that is wrong: NAME, a change of chain.toml or of another file, and the message.
wrong() {
  sed "$2" "$source/${4:-chain}.toml" >wrong.toml
  timeout 60 "$flick" machine run --machine ./wrong.toml --firmware chain </dev/null >wrong.out 2>&1
  [ $? = 1 ] && grep -q "$3" wrong.out
  verdict $? "$1"
}
wrong "an accelerator that is not there" 's/function = "mul"/function = "mull"/' \
  'no accelerator has the name mull; there are fft, ifft, mul'
wrong "a block that is larger than the local memory" 's/block = "2 KiB"/block = "8 KiB"/' \
  'tile fft has blocks of 8192 bytes, and 4096 bytes of memory'
wrong "an accelerator of requests without a cache" '/cache\]/,/ways/d' \
  'the accelerator of tile sum is one of requests, and has no cache' requests
wrong "an accelerator of requests that is not there" 's/function = "vector-sum"/function = "sum"/' \
  'tile sum: accelerators of requests with this function' requests
conclude

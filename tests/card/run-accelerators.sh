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

clang-19 --target=riscv64-unknown-elf -march=rv64gc -mabi=lp64d -mcmodel=medany -O2 -Wall -Wextra -Werror \
  -nostdlib -static -ffreestanding -fuse-ld=lld -Wl,--image-base=0x80000000 -I"$headers" -o chain "$source/chain.c"
verdict $? "chain is compiled"
for options in "" "--timed" "--engine interp"; do
  # shellcheck disable=SC2086
  timeout 120 "$flick" machine run --machine "$source/chain.toml" $options --firmware chain </dev/null >chain.out 2>&1
  verdict $? "chain ends${options:+ with $options}"
  diff "$source/chain.expected" chain.out
  verdict $? "what chain prints${options:+ with $options}"
done

# Programs of the root's kernel: the same, and gates.
if [ -e "$card/kernel-root.elf" ]; then
  for program in root_chain root_gates; do
    "$flick" card cc -O2 -Wall -Wextra -Werror -pthread -o $program "$source/$program.c"
    verdict $? "$program is compiled"
    for options in "" "--timed"; do
      # shellcheck disable=SC2086
      timeout 120 "$flick" machine run --machine "$source/root_chain.toml" $options --program $program </dev/null >$program.out 2>&1
      verdict $? "$program ends${options:+ with $options}"
      diff "$source/$program.expected" $program.out
      verdict $? "what $program prints${options:+ with $options}"
    done
  done
else
  skip "programs of a root" "no kernel-root.elf (make says why)"
fi

# What a machine file says that is wrong: NAME, a change of chain.toml, and the message.
wrong() {
  sed "$2" "$source/chain.toml" >wrong.toml
  timeout 60 "$flick" machine run --machine ./wrong.toml --firmware chain </dev/null >wrong.out 2>&1
  [ $? = 1 ] && grep -q "$3" wrong.out
  verdict $? "$1"
}
wrong "an accelerator that is not there" 's/function = "mul"/function = "mull"/' \
  'no accelerator has the name mull; there are fft, ifft, mul'
wrong "a block that is larger than the local memory" 's/block = "2 KiB"/block = "8 KiB"/' \
  'tile fft has blocks of 8192 bytes, and 4096 bytes of memory'
conclude

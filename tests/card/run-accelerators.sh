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

# The part of a report that is about accelerators.
report() { # MACHINE FIRMWARE OPTION...
  timeout 120 "$flick" machine stat --machine "$1" --timed --firmware "${@:2}" </dev/null 2>&1 >stat.out |
    sed -n '/^accelerator/,/instructions in/{/instructions in/d;p}'
}
chain=("$source/chain.toml" chain)
report "${chain[@]}" >chain.stat
report "${chain[@]}" | diff chain.stat -
verdict $? "a second run has the same times"
# Blocks, bytes and messages are those of the program. An image of 64 blocks has 65 requests for room for output in
# a chain: the last one is in vain. Then come COMMIT and END. The server grants pieces of 16 blocks.
cat >counts.expected <<'END'
fft 64 131,072 131,072 72 72
mul 64 131,072 131,072 134 134
ifft 64 131,072 131,072 74 74
END
awk '/^accelerator/ { table++; next }
  table == 1 && NF == 8 { blocks[$1] = $2 }
  table == 2 && NF == 5 { print $1, blocks[$1], $2, $3, $4, $5 }' chain.stat | diff counts.expected -
verdict $? "counts of accelerators"
grep -q '^chain fft, mul, ifft: ' chain.stat &&
  grep -q '^  slowest stage: i*fft, 5,856 ns a block, 374,784 ns in all$' chain.stat &&
  awk '/the chain takes/ { exit !($4 > 1.01 && $4 < 1.09) }' chain.stat
verdict $? "what bounds the chain"
# The shares of each accelerator are its whole time.
awk '/^accelerator/ { table++; next }
  table == 1 && NF == 8 { sum = $4 + $5 + $6 + $7 + $8; rows++; if (sum < 99.7 || sum > 100.3) bad = 1 }
  END { exit bad || rows != 3 }' chain.stat
verdict $? "shares of time"
# A snapshot has the counts.
report "${chain[@]}" --snapshot-at 200us --snapshot chain.snapshot | diff chain.stat - &&
  report "${chain[@]}" --restore chain.snapshot | diff chain.stat -
verdict $? "a run from a snapshot has the same counts"

# States and messages, in the trace, the page and for Perfetto.
timeout 120 "$flick" machine run --machine "$source/chain.toml" --timed --firmware chain --trace chain.data </dev/null >traced.out 2>&1 &&
  "$flick" report --input chain.data --output chain.html --perfetto chain.perfetto >>traced.out
verdict $? "a trace becomes a page"
for text in '>fft (3)<' 'waits for output' '>NEXT_OUT<' '>answer to NEXT_IN<' '>mul (4)</td><td>ifft (5)<'; do
  grep -q "$text" chain.html
  verdict $? "the page has $text"
done
for text in 'fft (3): messages' 'NEXT_OUT to mul (4)' 'answer to NEXT_IN of root (2)' computes reads writes asks; do
  grep -qa "$text" chain.perfetto
  verdict $? "Perfetto has $text"
done

# Two buffers, in all accelerators.
sed 's/^kind = "stream"$/&\nbuffers = 2/; s/^size = "4 KiB"$/size = "8 KiB"/' "$source/chain.toml" >two.toml
clang-19 --target=riscv64-unknown-elf -march=rv64gc -mabi=lp64d -mcmodel=medany -O2 -Wall -Wextra -Werror \
  -DBUFFERS=2 -nostdlib -static -ffreestanding -fuse-ld=lld -Wl,--image-base=0x80000000 -I"$headers" -o two "$source/chain.c"
verdict $? "chain is compiled for two buffers"
sed 's/within 5 % of the slowest stage/within 3 % of the slowest stage alone/' "$source/chain.expected" >two.expected
for options in "" "--timed"; do
  # shellcheck disable=SC2086
  timeout 120 "$flick" machine run --machine ./two.toml $options --firmware two </dev/null >two.out 2>&1
  verdict $? "chain with two buffers ends${options:+ with $options}"
  diff two.expected two.out
  verdict $? "what chain prints with two buffers${options:+ with $options}"
done
report ./two.toml two >two.stat
awk '/the chain takes/ { exit !($4 < 1.03) }' two.stat && grep -q '^fft .* 131,072  *131,072' two.stat
verdict $? "what stat says of two buffers"
timeout 120 "$flick" machine run --machine ./two.toml --timed --firmware two --trace two.data </dev/null >two.out 2>&1 &&
  "$flick" report --input two.data --output two.html >>two.out && grep -q 'computes, reads' two.html
verdict $? "a trace with two buffers"

# What a machine file says that is wrong: NAME, a change of chain.toml, and the message.
wrong() {
  sed "$2" "$source/chain.toml" >wrong.toml
  timeout 60 "$flick" machine run --machine ./wrong.toml --firmware chain </dev/null >wrong.out 2>&1
  [ $? = 1 ] && grep -q "$3" wrong.out
  verdict $? "$1"
}
wrong "an accelerator that is not there" 's/function = "mul"/function = "mull"/' \
  'no accelerator has the name mull; there are fft, ifft, mul'
wrong "two buffers that the local memory does not hold" '0,/kind = "stream"/s//&\nbuffers = 2/; s/block = "2 KiB"/block = "4 KiB"/' \
  'tile fft has blocks of 4096 bytes in two buffers, and 4096 bytes of memory'
wrong "a block that is larger than the local memory" 's/block = "2 KiB"/block = "8 KiB"/' \
  'tile fft has blocks of 8192 bytes, and 4096 bytes of memory'
conclude

#!/bin/bash
# Accelerators without a kernel: the program of a root sets them up, and serves files to them. Some are functions of
# a shared object (logic.c).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/accelerators
mkdir -p "$work"
cd "$work"
source=$here/accelerators
example=$root/examples/accelerator

for program in "$source/chain.c" "$source/requests.c" "$example/stream.c"; do
  name=$(basename "${program%.c}")
  build_root "$program" "$name"
  verdict $? "$name is compiled"
done
for program in chain requests; do
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

# Programs of the root's kernel: the same, gates, capabilities of a program that ends, and services.
if [ -e "$card/kernel-root.elf" ]; then
  # An accelerator of requests beside the same root.
  { sed '/^root = true/q' "$source/root_chain.toml" && sed '1,/^root = true/d' "$source/requests.toml"; } >root_requests.toml
  for program in root_chain root_gates root_sends root_leaves root_services root_requests; do
    machine=$source/root_chain.toml
    [ $program != root_requests ] || machine=./root_requests.toml
    programs=(--program $program)
    case $program in
    root_leaves) programs+=(--program $program -- all) ;;
    root_services) for role in serve serve hold; do programs+=(--program $program -- $role); done ;;
    esac
    "$flick" card cc -O2 -Wall -Wextra -Werror -pthread -o $program "$source/$program.c"
    verdict $? "$program is compiled"
    for options in "" "--timed"; do
      # shellcheck disable=SC2086
      timeout 120 "$flick" machine run --machine "$machine" $options "${programs[@]}" </dev/null >$program.out 2>&1
      verdict $? "$program ends${options:+ with $options}"
      diff "$source/$program.expected" $program.out
      verdict $? "what $program prints${options:+ with $options}"
    done
  done
  # Numbers that both programs print on the console besides are no part of what is compared.
  # Activities take turns: with short slices, and with slices longer than their work.
  "$flick" card cc -O2 -Wall -Wextra -Werror -o root_slices "$source/root_slices.c"
  verdict $? "root_slices is compiled"
  for slice in "20 us" "4 ms"; do
    for options in "" "--timed"; do
      # shellcheck disable=SC2086
      timeout 120 "$flick" machine run --machine "$source/root_chain.toml" --set "tile.0.dtu.slice=\"$slice\"" $options \
        --program root_slices </dev/null >root_slices.out 2>&1
      verdict $? "root_slices ends with slices of $slice${options:+ and $options}"
      grep -v ' turns' root_slices.out | diff "$source/root_slices.expected" -
      verdict $? "what root_slices prints with slices of $slice${options:+ and $options}"
    done
  done
  # The same of an accelerator of requests.
  "$flick" card cc -O2 -Wall -Wextra -Werror -o root_turns "$source/root_turns.c"
  verdict $? "root_turns is compiled"
  for slice in "20 us" "4 ms"; do
    for options in "" "--timed"; do
      # shellcheck disable=SC2086
      timeout 120 "$flick" machine run --machine ./root_requests.toml --set "tile.0.dtu.slice=\"$slice\"" $options \
        --program root_turns </dev/null >root_turns.out 2>&1
      verdict $? "root_turns ends with slices of $slice${options:+ and $options}"
      grep -v ' turns' root_turns.out | diff "$source/root_turns.expected" -
      verdict $? "what root_turns prints with slices of $slice${options:+ and $options}"
      # Four activities make 24 batches each, of which some last longer than a short slice.
      awk -v slice="${slice% *}" '/ turns/ { found = 1; if ($1 < (slice == 20 ? 50 : 4) || slice == 20 && $3 < 50) exit 1 }
        END { exit !found }' root_turns.out
      verdict $? "turns of root_turns with slices of $slice${options:+ and $options}"
    done
  done
  # Two tiles of each kind: activities move.
  "$flick" card cc -O2 -Wall -Wextra -Werror -o root_moves "$source/root_moves.c"
  verdict $? "root_moves is compiled"
  twice=(--set tile.fft.count=2 --set tile.mul.count=2 --set tile.ifft.count=2)
  for slice in "20 us" "4 ms"; do
    for options in "" "--timed"; do
      with="with slices of $slice${options:+ and $options}"
      of=("$flick" machine run --set "tile.0.dtu.slice=\"$slice\"" ${options:+"$options"})
      timeout 120 "${of[@]}" --machine "$source/root_chain.toml" "${twice[@]}" --program root_moves </dev/null >root_moves.out 2>&1
      verdict $? "root_moves ends $with"
      diff "$source/root_moves.expected" root_moves.out
      verdict $? "what root_moves prints $with"
      timeout 120 "${of[@]}" --machine "$source/root_chain.toml" "${twice[@]}" --program root_slices -- 4 move </dev/null >root_slices.out 2>&1
      grep -v ' turns' root_slices.out | diff "$source/root_slices.expected" -
      verdict $? "what root_slices prints when activities move, $with"
      timeout 120 "${of[@]}" --machine ./root_requests.toml --set tile.sum.count=2 --program root_turns -- move </dev/null >root_turns.out 2>&1
      grep -v ' turns' root_turns.out | diff "$source/root_turns.expected" -
      verdict $? "what root_turns prints when activities move, $with"
    done
  done
  # Groups; and chains that are groups.
  "$flick" card cc -O2 -Wall -Wextra -Werror -o root_groups "$source/root_groups.c"
  verdict $? "root_groups is compiled"
  for options in "" "--timed"; do
    of=("$flick" machine run --machine "$source/root_chain.toml" ${options:+"$options"})
    timeout 120 "${of[@]}" --set "tile.0.dtu.slice=\"1 ms\"" --program root_groups </dev/null >root_groups.out 2>&1
    verdict $? "root_groups ends${options:+ with $options}"
    diff "$source/root_groups.expected" root_groups.out
    verdict $? "what root_groups prints${options:+ with $options}"
    timeout 120 "${of[@]}" --set "tile.0.dtu.slice=\"20 us\"" --program root_slices -- 4 group </dev/null >root_slices.out 2>&1
    grep -v ' turns' root_slices.out | diff "$source/root_slices.expected" -
    verdict $? "what root_slices prints of groups${options:+ with $options}"
    # Neighbours have their turns at the same time. Without groups the kernel forwards some 470.
    awk '/ turns/ { found = $1 > 100 && $3 < 20 } END { exit !found }' root_slices.out
    verdict $? "groups need no forwards${options:+ with $options}"
  done
  # The whole measurement: root_shares 1000 600 counts.
  "$flick" card cc -O2 -Wall -Wextra -Werror -pthread -o root_shares "$source/root_shares.c"
  verdict $? "root_shares is compiled"
  timeout 300 "$flick" machine run --machine "$source/shares.toml" --program root_shares -- 96 60 </dev/null >root_shares.out 2>&1
  verdict $? "root_shares ends"
  printf '%s\n' "each has its share" "memory is free again" | diff - <(grep -v ' turns' root_shares.out)
  verdict $? "what root_shares prints"
else
  skip "programs of a root" "no kernel-root.elf (make says why)"
fi

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
build_root "$source/chain.c" two -DBUFFERS=2
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

# What a machine file says that is wrong: NAME, a change of chain.toml or of another file, and the message.
wrong() {
  sed "$2" "$source/${4:-chain}.toml" >wrong.toml
  timeout 60 "$flick" machine run --machine ./wrong.toml --firmware chain </dev/null >wrong.out 2>&1
  [ $? = 1 ] && grep -q "$3" wrong.out
  verdict $? "$1"
}
wrong "an accelerator that is not there" 's/function = "mul"/function = "mull"/' \
  'no accelerator has the name mull; there are fft, ifft, mul'
wrong "two buffers that the local memory does not hold" '0,/kind = "stream"/s//&\nbuffers = 2/; s/block = "2 KiB"/block = "4 KiB"/' \
  'tile fft has blocks of 4096 bytes, for which it needs 8192 bytes of memory at address 0, and the tile has 4096'
wrong "a block that is larger than the local memory" 's/block = "2 KiB"/block = "8 KiB"/' \
  'tile fft has blocks of 8192 bytes, for which it needs 8192 bytes of memory at address 0, and the tile has 4096'
wrong "an accelerator of requests without a cache" '/cache\]/,/ways/d' \
  'the accelerator of tile sum is one of requests, and has no cache' requests
wrong "an accelerator of requests that is not there" 's/function = "vector-sum"/function = "sum"/' \
  'tile sum: accelerators of requests with this function' requests
wrong "logic that needs more than a block" 's/function = "mul"/function = "stencil"/' \
  'tile mul has blocks of 2048 bytes, for which it needs 524296 bytes'
wrong "a shared object with requests" 's/kind = "stream"/library = "logic.so"/' \
  'add kind = "stream"'
wrong "a shared object without a name" 's/kind = "stream"/kind = "stream"\nlibrary = ""/' \
  'tile.accelerator.library.: it is empty'

# Functions of a shared object.
gcc -shared -fPIC -O2 -Wall -Wextra -Werror -I"$root/include" -o logic.so "$source/logic.c"
verdict $? "logic is compiled"
cp "$example/machine.toml" .
line='the quick brown fox jumps over the lazy dog'
of_logic() { # STATUS FUNCTION TEXT: one of what a run prints
  timeout 60 "$flick" machine run --machine ./machine.toml --set tile.upper.accelerator.library="${library:-logic.so}" \
    --set tile.upper.accelerator.function="$2" --set tile.upper.accelerator.block="${block:-16 B}" "${@:4}" \
    --firmware stream <<<"$line" >logic.out 2>&1
  [ $? = "$1" ] && grep -q "$3" logic.out
  verdict $? "function $2: $3"
}
of_logic 0 upper "^${line^^}\$"
"$flick" machine stat --machine ./machine.toml --set tile.upper.accelerator.library=logic.so \
  --set tile.upper.accelerator.function=upper --firmware stream <<<"$line" 2>&1 >/dev/null |
  grep -q '^Promises of units: [1-9][0-9]* messages, [1-9][0-9]* credits and 0 aborts looked at, 0 broken$'
verdict $? "promises of units were looked at"
of_logic 0 upper '^3 blocks, [0-9]\{3\} cycles' --set tile.upper.accelerator.cycles=100
of_logic 0 upper '^3 blocks, 3[0-9]\{5\} cycles' --set tile.upper.accelerator.cycles=100000
of_logic 0 counts '^0044$'
of_logic 0 counts '^3 blocks, 2[0-9]\{6\} cycles'
block="4 KiB" of_logic 1 counts 'has blocks of 4096 bytes, for which it needs 4104 bytes'
of_logic 1 too_much '^the accelerator has failed, with FAULT 14$'
of_logic 1 too_much 'tile upper, too_much of .*logic.so, has returned 4097 bytes .* block of 16 bytes, .* has 4096'
of_logic 1 fails '^the accelerator has failed, with FAULT 14$'
of_logic 1 fails 'tile upper, fails of .*logic.so, has failed at a block of 16 bytes'
of_logic 1 uper 'tile upper is in .*logic.so, and it has no function uper; it has counts, fails, newer, too_much, upper$'
of_logic 1 unmarked 'its function unmarked does not say which version of the interface it is for'
of_logic 1 newer 'its function newer is for version 2 of the interface, and this Flick has 1'
library=nowhere.so of_logic 1 upper 'nowhere.so: cannot open shared object file'
library=machine.toml of_logic 1 upper 'machine.toml: .*invalid ELF header'
# The path is from the machine file on.
mkdir -p elsewhere
mv logic.so elsewhere
sed 's/"upper.so"/"logic.so"/' machine.toml >elsewhere/machine.toml
timeout 60 "$flick" machine run --machine elsewhere/machine.toml --firmware stream <<<"$line" >logic.out 2>&1 &&
  grep -q "^${line^^}\$" logic.out
verdict $? "a library beside the machine file"

# The header is C++, too, and exports functions by their names.
g++ -x c++ -shared -fPIC -Wall -Werror -fvisibility=hidden -I"$root/include" -o logic++.so "$source/logic.c" &&
  nm -D logic++.so | grep ' T upper$' >/dev/null && nm -D logic++.so | grep ' D flick_accelerator_abi_upper$' >/dev/null
verdict $? "the header in C++"

# One of Flick's own.
sed '/^library/d; s/"upper"/"sha256"/' machine.toml >sha256.toml
timeout 60 "$flick" machine run --machine ./sha256.toml --firmware stream <<<"$line" >sha256.out 2>&1 &&
  [ "$(head -c 32 sha256.out | od -An -v -tx1 | tr -d ' \n')" = "$(sha256sum <<<"$line" | cut -d ' ' -f 1)" ]
verdict $? "sha256 gives the digest of sha256sum"

# The machine of a host program has them, too.
if [ -e "$card/kernel-host.elf" ]; then
  tile=$(perl -0ne 'print $1 if /(\[\[tile\]\]\nname = "upper".*)\[\[link/s' elsewhere/machine.toml)
  tile=$tile perl -0pe 's/(?=\[\[tile\]\]\nname = "host")/$ENV{tile}\n/; s/point-to-point/crossbar/; s/"nxp", /"nxp", "upper", /' \
    "$root/machines/card.toml" >elsewhere/host.toml
  sed 's/^function = "upper"/function = "lower"/' elsewhere/host.toml >elsewhere/wrong.toml
  "$flick_cc" -O2 "$root/examples/hello/hello.c" -o hello
  verdict $? "hello is compiled"
  for machine in host wrong; do
    FLICK_BACKEND=card FLICK_OFFLOAD=require FLICK_MACHINE=./elsewhere/$machine.toml timeout 60 ./hello >$machine.out 2>&1
  done
  grep -qx 'hello, world' host.out
  verdict $? "a host program beside an accelerator of a shared object"
  grep -q 'tile upper is in .*logic.so, and it has no function lower; it has counts, .*; change .function' wrong.out
  verdict $? "a function that is not there, in a host program"
else
  skip "a host program beside an accelerator" "no kernel-host.elf (make says why)"
fi
conclude

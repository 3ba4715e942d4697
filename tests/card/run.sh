#!/bin/bash
# Programs of the card, without a C library, on the kernel: each on several machines of Flick's and on
# QEMU's `virt`. Each must print NAME.expected on all of them. `run.sh NAME...` runs only these.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/card
kernel=$card/kernel.elf
mkdir -p "$work"
need kernel.elf kernel-symmetric.elf

# Options of `flick machine run`, by name.
declare -A machines=(
  [virt]=""
  [two-harts]="--set harts=2"
  [sixteen-harts]="--set harts=16"
  [interpreted]="--engine interp"
  [timed]="--timed --set harts=8"
  [clusters]="--machine mppa256"
  [clusters-timed]="--machine mppa256 --timed"
  [sv39]="--set tile.hart.mmu=\"sv39\""
  [write-back]="--machine rocket-rvv --timed --set memory=32MiB --set 'tile.coherence={kind=\"none\"}' --set isa=rv64gc_zicntr_zihpm_xtheadcmo"
)
# Options of `flick machine run` for a program on each machine.
declare -A needs=([vectors]="--set isa=rv64gcv_zicntr_zihpm_sstc_zvl512b")
declare -A arguments=([random_calls]="1 8000")
# Harts that look at each other for long would stand still by turns.
declare -A qemu=([random_calls]="multi")

# Those on which the symmetric kernel runs, too.
symmetric=(virt clusters-timed write-back)

cd "$work"
programs=("$@")
[ $# -gt 0 ] || mapfile -t programs < <(cd "$here" && ls ./*.c | sed 's|./\(.*\)\.c|\1|')
no_kernel

on_machine() { # NAME MACHINE KERNEL
  local name=$1 machine=$2 output=$1.$2.$(basename "$3" .elf).out
  # Its threads do not clean what they have stored; and vectors are not of this machine's `isa`.
  [ "$machine" != write-back ] || [[ $name != threads && $name != vectors ]] || return
  # shellcheck disable=SC2086
  eval "timeout 120 '$flick' machine run ${machines[$machine]} ${needs[$name]:-} --firmware '$3' --initrd '$name.tar' --append '$line' --max-instructions 2000000000" \
    2>&1 </dev/null | of_program >"$output"
  diff "$here/$name.expected" "$output"
  verdict $? "$name on $machine, $(basename "$3")"
}

for name in "${programs[@]}"; do
  [ -e "$here/$name.c" ] || continue
  build_bare "$name" "$here/$name.c"
  line="$name ${arguments[$name]:-}"
  for machine in "${!machines[@]}"; do on_machine "$name" "$machine" "$kernel"; done
  # Without coherence the symmetric kernel needs XTheadCmo, which the vectors' machine has not. Random calls
  # starve threads there.
  [[ $name = vectors || $name = random_calls ]] || for machine in "${symmetric[@]}"; do
    on_machine "$name" "$machine" "$card/kernel-symmetric.elf"
  done
  has_qemu "$name" || continue
  timeout 120 qemu-system-riscv64 -accel "tcg,thread=${qemu[$name]:-single}" -machine virt -cpu rv64,v=true,vlen=256,vext_spec=v1.0 -smp 4 -m 256M -nographic -bios "$kernel" -kernel no-kernel.bin \
    -initrd "$name.tar" -append "$line" </dev/null 2>&1 | of_program >"$name.qemu.out"
  diff "$here/$name.expected" "$name.qemu.out"
  verdict $? "$name on QEMU"
done

# Caches that write back, and no operation that cleans them.
[ ! -e copies.tar ] || {
  timeout 120 "$flick" machine run --machine rocket-rvv --set 'tile.coherence={kind="none"}' --firmware "$kernel" \
    --initrd copies.tar --append copies >copies.dirty.out 2>&1 </dev/null
  grep -q '^kernel: caches write back without coherence' copies.dirty.out
  verdict $? "caches that cannot be cleaned"
}

# Harts and interrupts that fail: the program `faults` with each file of faults/.
for faults in "$here"/faults/*.toml; do
  [ -e faults.tar ] || break
  name=$(basename "$faults" .toml)
  timeout 120 "$flick" machine run --firmware "$kernel" --initrd faults.tar --append faults --inject "$faults" \
    --max-instructions 2000000000 2>&1 </dev/null | of_program >"faults.$name.out"
  diff "$here/faults/$name.expected" "faults.$name.out"
  verdict $? "faults, $name"
done

# Packets between clusters that are lost, late or repeated: the same output as without.
for faults in "$here"/packets/*.toml; do
  [ -e mailboxes.tar ] || break
  name=$(basename "$faults" .toml)
  timeout 120 "$flick" machine run --machine mppa256 --set tile.cluster.count=4 --set link.noc.columns=2 \
    --firmware "$kernel" --initrd mailboxes.tar --append mailboxes --inject "$faults" --max-instructions 2000000000 2>&1 </dev/null | of_program >"mailboxes.$name.out"
  diff "$here/mailboxes.expected" "mailboxes.$name.out"
  verdict $? "mailboxes, packets $name"
done
# A link to another cluster that is dead, or dies.
if [ $# = 0 ] || [[ " $* " = *" dead_link "* ]]; then
  build_bare dead_link "$here/links/dead_link.c"
  for faults in "$here"/links/*.toml; do
    name=$(basename "$faults" .toml)
    timeout 120 "$flick" machine run --machine mppa256 --set tile.cluster.count=4 --set link.noc.columns=2 \
      --firmware "$kernel" --initrd dead_link.tar --append dead_link --inject "$faults" 2>&1 </dev/null | of_program >"dead_link.$name.out"
    diff "$here/links/$name.expected" "dead_link.$name.out"
    verdict $? "dead_link, $name"
  done
fi

# Random calls while interrupts fail, while a hart stops, and while the console's input does not end.
random() { # NAME OPTION...
  timeout 120 "$flick" machine run "${@:2}" --firmware "$kernel" --initrd random_calls.tar --append "random_calls 5 8000 2" 2>&1 |
    of_program >"random_calls.$1.out"
  diff <(grep -v '^kernel: hart 3 is lost' "random_calls.$1.out") "$here/random_calls.expected"
  verdict $? "random_calls, $1"
}
if [ -e random_calls.tar ]; then
  random interrupts --inject "$here/random/interrupts.toml" </dev/null
  random stopped-hart --inject "$here/random/stopped-hart.toml" </dev/null
  [ "$(grep -c '^kernel: hart 3 is lost' random_calls.stopped-hart.out)" = 1 ]
  verdict $? "random_calls, a hart is lost"
  head -c 4000000 /dev/zero | random input
fi
conclude

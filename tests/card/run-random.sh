#!/bin/bash
# Random kernel calls (random_calls.c) on many machines of Flick's, and as many on QEMU's `virt`:
# `run-random.sh --calls 10000000 --seed 1`. A line for each machine; `--only NAME` runs one of them.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/card-random
kernel=$card/kernel.elf
calls=10000000 seed=1 only= limit=
while [ $# -gt 0 ]; do
  case $1 in
  --calls) calls=$2 ;;
  --seed) seed=$2 ;;
  --only) only=$2 ;;
  *) echo "run-random.sh: no option $1" >&2 && exit 2 ;;
  esac
  shift 2
done
mkdir -p "$work"
need kernel.elf
cd "$work"
no_kernel
build_bare random_calls "$here/random_calls.c"

# Calls in parts of a hundred, and options.
flick_machines=(
  "virt 30"
  "two-harts 15 --set harts=2"
  "sixteen-harts 20 --set harts=16"
  "clusters 14 --machine mppa256"
  "sv39 10 --set tile.hart.mmu=\"sv39\""
  "little-memory 10 --set memory=3MiB"
  "timed 1 --timed --set harts=8"
)
qemu_machines=(
  "virt 25 -smp 4"
  "two-harts 15 -smp 2"
  "eight-harts 50 -smp 8"
  "little-memory 10 -smp 4 -m 16M"
)

on_flick() { # APPEND OPTION...
  timeout $limit "$flick" machine run "${@:2}" --firmware "$kernel" --initrd random_calls.tar --append "$1"
}

on_qemu() { # APPEND OPTION...
  timeout $limit qemu-system-riscv64 -accel tcg,thread=multi -machine virt -cpu rv64,v=true,vlen=256,vext_spec=v1.0 -m 256M "${@:2}" \
    -nographic -bios "$kernel" -kernel no-kernel.bin -initrd random_calls.tar -append "$1"
}

part() { # PROGRAM NAME HUNDREDTHS OPTION...
  local program=$1 name=$1-$2 share=$((calls * $3 / 100)) begin=$SECONDS
  seed=$((seed + 10000000))
  [ -z "$only" ] || [ "$only" = "$name" ] || return 0
  # A kernel that hangs is no end either.
  limit=$((120 + share / 200))
  "on_$program" "random_calls $seed $share" "${@:4}" </dev/null 2>&1 | of_program >"$name.out"
  echo "$share calls" | diff - "$name.out"
  verdict $? "$name"
  echo "$name: $share calls from seed $seed on in $((SECONDS - begin)) s"
}
for machine in "${flick_machines[@]}"; do
  read -ra words <<<"$machine"
  part flick "${words[@]}"
done
for machine in "${qemu_machines[@]}"; do
  read -ra words <<<"$machine"
  part qemu "${words[@]}"
done
conclude

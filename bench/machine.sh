#!/bin/bash
# Measures `flick machine run` in functional mode: the kernels of bench/engine as bare programs, and
# other bare programs, in millions of instructions a second of user time. Each round runs all engines,
# one after the other; the medians are printed.
#
#   bench/machine.sh [--spike SPIKE] [--qemu QEMU] [--timed] [--rounds N] [PROGRAM=INSTRUCTIONS...]
#
# With --timed, one hart of `rocket-rvv` is timed, too, and at the end 16 of them together.
#
# PROGRAMs are RV64 ELF files that end by `tohost` after so many instructions. QEMU is a
# qemu-system-riscv64. FLICK names another flick than that of the build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scripts/lib.sh"
rounds=5 spike='' qemu='' timed='' programs=()
while [ $# != 0 ]; do
  case $1 in
  --spike) spike=$2 && shift 2 ;;
  --qemu) qemu=$2 && shift 2 ;;
  --timed) timed=1 && shift ;;
  --rounds) rounds=$2 && shift 2 ;;
  -*) sed -n '2,/^set/s/^# \?//p' "$0" >&2 && exit 2 ;;
  *) programs+=("$1") && shift ;;
  esac
done
flick=${FLICK:-$flick}
out=$build/bench/machine
mkdir -p "$out"

harts=16
isa=rv64gc_zba_zbb_zbs_zicntr
run() {
  case $1 in
  flick) "$flick" machine run --firmware "$2" ;;
  interp) "$flick" machine run --engine interp --firmware "$2" ;;
  timed) "$flick" machine run --machine rocket-rvv --timed --set tile.0.hart.0.count=1 --firmware "$2" ;;
  timed_harts) "$flick" machine run --machine rocket-rvv --timed --set tile.0.hart.0.count=$((harts - 1)) --firmware "$2" ;;
  spike) "$spike" --isa=$isa "$2" ;;
  qemu) "$qemu" -M spike -nographic -bios none -kernel "$2" ;;
  esac </dev/null
}

sources=()
for source in "$here"/engine/*.c; do
  case $source in
  */main.c | */bare.c | */hosted.c) ;;
  *) sources+=("$source") ;;
  esac
done

bare() {
  clang-19 --target=riscv64-unknown-elf -march=rv64gc -mabi=lp64d -mcmodel=medany -O2 -fno-math-errno -ffreestanding -nostdlib \
    -static -fuse-ld=lld -Wl,-T,"$here/machine/bare.ld" "$@"
}

compile() {
  bare --embed-dir="$root/examples/data" -Wno-c23-extensions -DKERNEL="\"$1\"" -DRUNS="$2" \
    "$here/machine/kernel_main.c" "${sources[@]}" -o "$out/$1"
}

# What the program has counted.
instructions() { run flick "$1" | awk 'END { print $2 }'; }

seconds() {
  local TIMEFORMAT=%U
  { time run "$1" "$2" >"$out/printed" 2>&1; } 2>&1
}

engines=(flick interp)
[ -z "$spike" ] || engines+=(spike)
[ -z "$qemu" ] || engines+=(qemu)
[ -z "$timed" ] || engines+=(timed)
printf '%-14s %10s' program 'million'
printf ' %8s' "${engines[@]}"
echo

measure() { # NAME FILE INSTRUCTIONS
  for ((n = 0; n < rounds; n++)); do
    for engine in "${engines[@]}"; do
      echo "$engine $(seconds "$engine" "$2")"
    done
  done >"$out/times"
  printf '%-14s %10d' "$1" $(($3 / 1000000))
  for engine in "${engines[@]}"; do
    awk -v e="$engine" '$1 == e { print $2 }' "$out/times" | sort -n |
      awk -v i="$3" '{ t[NR] = $1 } END { printf " %8.0f", i / 1e6 / t[int((NR + 1) / 2)] }'
  done
  echo
}

for kernel in integer recursion indirect chase_cache chase_memory crc32 sort sha256 matrix nbody bfs bytecode strings hashing mix; do
  # The first run makes the data, too.
  compile $kernel 1
  first=$(instructions "$out/$kernel")
  compile $kernel 2
  count=$(($(instructions "$out/$kernel") - first))
  # This one waits for memory nearly all of its time.
  [ $kernel = chase_memory ] && most=20000000 || most=300000000
  runs=$((most / count + 1))
  compile $kernel $runs
  measure $kernel "$out/$kernel" "$(instructions "$out/$kernel")"
done
for program in "${programs[@]}"; do
  file=${program%=*}
  measure "$(basename "$file" .elf)" "$file" "${program##*=}"
done
if [ -n "$timed" ]; then
  bare -DHARTS=$harts -DROUNDS=400000 "$here/machine/many_harts.c" -o "$out/many_harts"
  stat=$("$flick" machine stat --machine rocket-rvv --timed --set tile.0.hart.0.count=$((harts - 1)) --firmware "$out/many_harts" 2>&1)
  engines=(timed_harts)
  measure many_harts "$out/many_harts" "$(sed -n 's/ instructions in .*//p' <<<"$stat" | tr -d ,)"
fi

#!/bin/bash
# Fuzzes the decoder, the translator, the readers of traces, machine files, snapshots and recordings,
# of what CPUs have, the models of devices, and the machine's bus.
#
#   fuzz/run.sh [--seconds N] [TARGET...]
#
# The targets are `decoder`, `translator`, `execution`, `trace`, `devices`, `bus`, `firmware`,
# `machine_descriptions`, `machine_history`, `cpus`, `descriptor` and `host_tile`. By default all of them run, each for N seconds (60). The script needs a built
# tree, for seeds, and no nightly toolchain. An input that fails stays in build/fuzz/TARGET-…, and
# inputs that reach new code in build/fuzz/corpus. `cargo fuzz run TARGET` works as well.
set -euo pipefail
. "$(dirname "$0")/../scripts/lib.sh"
seconds=60
[ "${1-}" != --seconds ] || { seconds=$2 && shift 2; }
targets=("$@")
[ $# -gt 0 ] || targets=(decoder translator execution trace devices bus firmware machine_descriptions machine_history cpus descriptor host_tile)
out=$build/fuzz
mkdir -p "$out"

# The seeds are pieces of the code that LLVM makes of the corpus. In front of each piece are the
# bytes with which an input of the target begins.
seeds() {
  local objects=$out/objects source piece
  mkdir -p "$objects" "$out"/seeds/{decoder,translator,execution}
  for source in "$root"/tests/c/{abi,atomic,big,call,f,goto,l,m,s,t}*.c; do
    for isa in rv64gc rv64gcv; do
      local program=$objects/$(basename "$source" .c)-$isa
      # A program that is more than this file does not build, and makes no seed.
      "$flick_cc" -O2 --nxp-march=$isa -Xnxp=-O3 --flick-place=random:1:100 --flick-save-temps="$program.d" "$source" -o "$program" -lm -lpthread 2>"$program.log" &&
        llvm-objcopy-19 -O binary --only-section=.text "$program.d/image.elf" "$program.text" 2>>"$program.log" &&
        split -b 240 -a 4 "$program.text" "$program.piece-" || continue
    done
  done
  for piece in "$objects"/*.piece-*; do
    local name shape=\\x05
    name=$(basename "$piece")
    # Harts have a vector state.
    [[ $name != *-rv64gcv.* ]] || shape=\\x45
    cp "$piece" "$out/seeds/decoder/$name"
    { printf '\x41\x30\x01' && cat "$piece"; } >"$out/seeds/translator/$name"
    { printf '%b\x07\x00\x01\x10\x20\x30\x40\x50\x60\x70' "$shape" && cat "$piece"; } >"$out/seeds/execution/$name"
  done
}
# Machine files are seeds as they are.
mkdir -p "$out/seeds/machine_descriptions" && cp "$root"/machines/*.toml "$out/seeds/machine_descriptions"
sed -n '/^```toml/,/^```$/{/^```/d;p}' "$root/docs/faults.md" >"$out/seeds/machine_descriptions/faults.toml"
[ -d "$out/seeds/decoder" ] || { say "Making seeds" && seeds; }

say "Building the targets"
# cargo-fuzz passes these options, and a sanitizer.
RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
  -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1" \
  CARGO_TARGET_DIR=$CARGO_TARGET_DIR/fuzz cargo build -q --release --target x86_64-unknown-linux-gnu --manifest-path "$root/fuzz/Cargo.toml"

for target in "${targets[@]}"; do
  say "$target, $seconds s"
  # Traces need no seeds: the target writes the headers. Any bytes are accesses to a device.
  mkdir -p "$out/corpus/$target" "$out/seeds/$target"
  "$CARGO_TARGET_DIR/fuzz/x86_64-unknown-linux-gnu/release/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -max_len="$([ "$target" = machine_descriptions ] && echo 16384 || echo 4096)" -print_final_stats=1 -artifact_prefix="$out/$target-" "$out/corpus/$target" "$out/seeds/$target" 2>"$out/$target.log" ||
    { tail -n 40 "$out/$target.log" && exit 1; }
  grep -E 'DONE|stat::number_of_executed_units' "$out/$target.log"
done

#!/bin/bash
# Builds the engines of RV64 code that `flick bench` can be compared with and that Debian does not
# have, and prints the options to pass. cargo fetches their sources at the versions and checksums of
# peers/Cargo.lock.
#
#   bench/peers.sh [LIBRISCV]
#
# LIBRISCV is a checkout of https://github.com/libriscv/libriscv that replaces the crate's sources.
# The crate's version 1.11 computes `mulh` as `mulhu` in translated code. So the kernel `integer` is
# wrong, and the programs of bench/real.sh break in their `malloc`. Commit
# 22e45c1ab5bdb41c48d06f6eaa4f6134b072c7d9 has both right.
#
# libriscv (BSD-3-Clause) runs in its fastest mode and interpreted. The fastest mode translates
# through clang to a shared library when a program is first run. That takes a second for the
# kernels, and minutes for a program with a C library.
#
# ckb-vm (MIT) runs its interpreter in assembly, which has 4 MiB of memory and no floating point.
# The command must name the kernels that it can run.
#
# qemu-riscv64 (GPL-2) is Debian's, and `flick bench` finds it by itself.
#
# Two engines are left out. rvtime 0.0.8 (Cranelift) takes only RV64IMAC with its relocations, and
# not the program that the others run. Unicorn is qemu's translator.
#
# The builds stay in build/bench/peers, and no part of Flick is linked with them.
set -euo pipefail
[ $# -le 1 ] || { sed -n '2,/^set/s/^# \?//p' "$0" >&2 && exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scripts/lib.sh"
out=$build/bench/peers
mkdir -p "$out"

say "libriscv (a minute)"
if [ $# = 1 ]; then
  libriscv=$(cd "$1" && pwd) out=$out/checkout
  mkdir -p "$out"
else
  libriscv=$("$root/scripts/crate-source.sh" "$out/crates" "$here/peers/Cargo.toml" libriscv_sys)/libriscv-c
fi
cmake -S "$here/peers" -B "$out" -DLIBRISCV="$libriscv" -DCMAKE_CXX_COMPILER=clang++-19 -DPEER_CC=clang-19 >"$out/log"
cmake --build "$out" --parallel "$(nproc)" >>"$out/log" 2>&1 || { tail -n 20 "$out/log" >&2 && exit 1; }
clang-19 --target=riscv64-unknown-elf -march=rv64gc -mabi=lp64d -O2 -ffreestanding -nostdlib -static -fuse-ld=lld \
  "$here/peers/guest.c" "$here/engine/bare.c" -o "$out/guest"
say "ckb-vm (a minute)"
CARGO_TARGET_DIR=$out/ckb cargo build -q --release --locked --manifest-path "$here/peers/ckb-vm/Cargo.toml"
cp "$out/ckb/release/ckb-vm-run" "$out/"

cat <<END

flick bench engine --peer libriscv='$out/libriscv-run' --peer libriscv-interp='$out/libriscv-run --interpret'
flick bench engine --peer ckb-vm='$out/ckb-vm-run' recursion indirect crc32 sort sha256 bytecode strings hashing mix
flick bench crossing --peer libriscv='$out/libriscv-crossing $out/guest' --peer libriscv-interp='$out/libriscv-crossing --interpret $out/guest'
END

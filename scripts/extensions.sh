#!/bin/bash
# Builds the program for hosts of RISC-V (crates/extensions): a static Linux program for riscv64. Exit
# status 77: what that needs cannot be had here.
#
#   extensions.sh build FILE   builds it into FILE
#
# The compiler is the one in use if rustup has, or can add, the target riscv64gc-unknown-linux-gnu. The C
# library is Debian's for cross-compiling (`make deps`).
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cargo=${CARGO:-cargo}
target=riscv64gc-unknown-linux-gnu

skipped() {
  echo "extensions: skipped: $*"
  exit 77
}
has_target() { [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; }

[ "${1:-}" = build ] && [ $# = 2 ] || { sed -n '5s/^# *//p' "$0" >&2 && exit 2; }
for file in /usr/riscv64-linux-gnu/lib/libc.a /usr/lib/gcc-cross/riscv64-linux-gnu; do
  [ -e $file ] || skipped "there is no $file (make deps)"
done
if ! has_target; then
  { command -v rustup >/dev/null && echo "extensions: rustup target add $target" && rustup -q target add $target && has_target; } ||
    skipped "no standard library for $target (rustup target add $target)"
fi
cd "$root"
export CARGO_TARGET_DIR=$build/riscv64
export RUSTFLAGS='-Clinker=clang-19 -Clink-arg=--target=riscv64-linux-gnu -Clink-arg=-fuse-ld=lld -Ctarget-feature=+crt-static'
"$cargo" build -q --release -p flick-extensions --target $target
mkdir -p "$(dirname "$2")"
llvm-objcopy-19 --strip-all "$CARGO_TARGET_DIR/$target/release/flick-extensions" "$2"

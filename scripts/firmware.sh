#!/bin/bash
# Builds, tests or checks the firmware (the workspace firmware/), whose target is
# riscv64gc-unknown-none-elf. Exit status 77: no toolchain for it can be had here.
#
#   firmware.sh build FILE [OPTION...]   builds the kernel into FILE, with options of cargo
#   firmware.sh program NAME FILE       builds a program in Rust, as the file server, into FILE
#   firmware.sh replay DISPATCH CALLS   compares points of two runs with the models
#   firmware.sh test                     tests, models, format and lints
#
# The compiler is the one in use if rustup has, or can add, the target. Otherwise it is Debian's
# `rustc-web`, which is unpacked and not installed: installed it would conflict with others.
# FLICK_FIRMWARE_TOOLCHAIN=debian takes that one at once.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cargo=${CARGO:-cargo}
target=riscv64gc-unknown-none-elf
unpacked=$build/obj/rustc-web
export CARGO_TARGET_DIR=$build/firmware

has_target() { [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; }

rustup_target() {
  has_target && return
  command -v rustup >/dev/null || return 1
  echo "firmware: rustup target add $target"
  rustup -q target add $target && has_target
}

# Options of cargo for the compiler that is used.
options=()
debian_compiler() {
  local packages=(rustc-web rust-web-src libstd-rust-web-dev libllvm22)
  if [ ! -e "$unpacked/done" ]; then
    ensure_apt_lists >&2 || return 1
    command -v apt-get >/dev/null && command -v dpkg >/dev/null || return 1
    local std
    std=$(apt-cache depends libstd-rust-web-dev 2>/dev/null | sed -n 's/.*Depends: \(libstd-rust-web-[0-9.]*\)$/\1/p' | head -n 1)
    echo "firmware: Debian's rustc-web is fetched (some 145 MB)"
    rm -rf "$unpacked" && mkdir -p "$unpacked/packages"
    (cd "$unpacked/packages" && apt-get -q download "${packages[@]}" ${std:+"$std"}) || return 1
    for package in "$unpacked"/packages/*.deb; do dpkg -x "$package" "$unpacked" || return 1; done
    rm -r "$unpacked/packages" && touch "$unpacked/done"
  fi
  export RUSTC=$unpacked/usr/bin/rustc RUSTC_BOOTSTRAP=1
  export RUSTFLAGS='-Clinker=ld.lld-19 -Clinker-flavor=ld.lld'
  LD_LIBRARY_PATH=$(find "$unpacked/usr/lib" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export LD_LIBRARY_PATH
  options=(-Zbuild-std=core,compiler_builtins -Zbuild-std-features=compiler-builtins-mem)
  "$RUSTC" --version >/dev/null
}

find_compiler() {
  if [ "${FLICK_FIRMWARE_TOOLCHAIN:-}" != debian ] && rustup_target; then return; fi
  if debian_compiler; then return; fi
  echo "firmware: skipped: no compiler for $target (rustup target add $target, or Debian's rustc-web)"
  exit 77
}

cd "$root/firmware"
case $1 in
build)
  find_compiler
  # Each copy of a function in its callers takes room, and a kernel with all roles has 256 KiB.
  case " ${*:3} " in
  *root*) export RUSTFLAGS="${RUSTFLAGS:-} -Cllvm-args=-inline-threshold=75" ;;
  esac
  "$cargo" build -q --release -p flick-kernel --target $target "${options[@]}" "${@:3}"
  mkdir -p "$(dirname "$2")"
  llvm-objcopy-19 --strip-debug --discard-locals "$CARGO_TARGET_DIR/$target/release/flick-kernel" "$2"
  ;;
program)
  find_compiler
  "$cargo" build -q --release -p flick-file-servers --bin "$2" --target $target "${options[@]}"
  mkdir -p "$(dirname "$3")"
  llvm-objcopy-19 --strip-debug --discard-locals "$CARGO_TARGET_DIR/$target/release/$2" "$3"
  ;;
test)
  "$cargo" fmt --all --check
  "$cargo" test -q --release -p flick-kernel-core -p flick-files
  "$cargo" clippy -q --release -p flick-kernel-core -p flick-files --all-targets -- -D warnings
  rustup_target || skip_tests "lints of the kernel: no compiler for $target (rustup target add $target)"
  for features in '' symmetric host alone root host,root; do
    "$cargo" clippy -q --release -p flick-kernel --target $target --features "$features" -- -D warnings
  done
  "$cargo" clippy -q --release -p flick-file-servers --target $target -- -D warnings
  ;;
replay)
  FLICK_POINTS=$2 FLICK_CALL_POINTS=$3 "$cargo" test -q --release -p flick-kernel-core --test dispatch_model --test call_model replay
  ;;
esac

#!/bin/bash
# Runs the corpus on a runtime and an interpreter that are built with AddressSanitizer. Unlike
# valgrind, it sees accesses beyond static objects and objects on the stack. Programs are built as
# in other runs.
#
#   run.sh [FLICK-TEST OPTIONS]
#
# The last line is `N passed, N failed, N skipped`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
cd "$root"
target=x86_64-unknown-linux-gnu
out=$build/asan
# The option is a nightly option. The standard library is as it comes, not instrumented. A target is
# named, so that programs of the build itself are not instrumented.
RUSTC_BOOTSTRAP=1 RUSTFLAGS='-Zsanitizer=address' CARGO_TARGET_DIR=$out/target \
  CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
  "${CARGO:-cargo}" build --release --target $target -p flick-shared
soname=$(basename "$(readlink -f "$build/lib/flick/libflick.so")")
mkdir -p "$out/lib"
cp "$out/target/$target/release/libflick.so" "$out/lib/$soname"
"${CARGO:-cargo}" build -q --release -p flick-tests
"$CARGO_TARGET_DIR/release/flick-test" --flick "$flick_cc" --work "$out/corpus" --asan "$out/lib" \
  --sanitizer "$(clang-19 -print-file-name=libclang_rt.asan-x86_64.so)" "$@"

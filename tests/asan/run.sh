#!/bin/bash
# The corpus on a runtime and an interpreter that are built with AddressSanitizer, which sees what valgrind
# does not: accesses beyond objects on the stack and static ones. Programs are built as ever.
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
# The option is a nightly one; the standard library is as it comes, not instrumented. With a target named, what
# runs at build time is not instrumented.
RUSTC_BOOTSTRAP=1 RUSTFLAGS='-Zsanitizer=address' CARGO_TARGET_DIR=$out/target \
  CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
  "${CARGO:-cargo}" build --release --target $target -p flick-so
soname=$(basename "$(readlink -f "$build/lib/flick/libflick.so")")
mkdir -p "$out/lib"
cp "$out/target/$target/release/libflick.so" "$out/lib/$soname"
"${CARGO:-cargo}" build -q --release -p flick-tests
"$CARGO_TARGET_DIR/release/flick-test" --flick "$flick_cc" --work "$out/corpus" --asan "$out/lib" \
  --sanitizer "$(clang-19 -print-file-name=libclang_rt.asan-x86_64.so)" "$@"

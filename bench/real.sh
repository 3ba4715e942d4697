#!/bin/bash
# Measures real code wholly on the NxP: Lua running scripts, SQLite running queries, zstd
# compressing. The same code runs as host code and under other engines of RV64 code. The table, the
# options and the names are those of `flick bench engine`.
#
#   bench/real.sh [OPTION of flick bench engine]... [KERNEL]...
#
# The script needs a built tree (`make build`) and, the first time, a network. Crates carry the
# sources, at the versions of tests/real/world/Cargo.lock (Lua 5.5.1, SQLite 3.54.1, zstd 1.5.7).
# All of them and the kernels are placed, and the driver is not. NxP code allocates and formats
# through the host's C library. Programs under other engines have a C library of their own,
# statically linked. If there is no C library for RV64 (Debian: libc6-dev-riscv64-cross and
# libgcc-12-dev-riscv64-cross), those engines are left out. The first run builds for some minutes;
# the programs stay in build/bench/real.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^set/s/^# \?//p' "$0" && exit ;; esac
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../scripts/lib.sh"
out=$build/bench/real
world=$root/tests/real/world
mkdir -p "$out"

{ read -r lua && read -r sqlite && read -r zstd; } < <("$root/scripts/crate-source.sh" "$build/real/world/crates" \
  "$world/Cargo.toml" lua-src libsqlite3-sys zstd-sys)
programs=(native vectorised x86-64-v3 nxp)
if echo 'int main(void) { return 0; }' | clang-19 --target=riscv64-linux-gnu -static -fuse-ld=lld -x c - -o "$out/probe" 2>/dev/null; then
  programs+=(rv64)
else
  echo "real.sh: there is no C library for RV64 (libc6-dev-riscv64-cross), so only the NxP is measured" >&2
fi
rm -f "$out/probe"
make -s -C "$here/real" -j"$(nproc)" OUT="$out" FLICK_CC="$flick_cc" PASS="$build/obj/pass/flick-pass.so" \
  LUA="$(echo "$lua"/lua-5.5.*)" SQLITE="$sqlite/sqlite3" ZSTD="$zstd/zstd/lib" "${programs[@]}" >"$out/log" 2>&1 ||
  { tail -n 20 "$out/log" >&2 && exit 1; }
exec "$flick" bench engine --programs "$out" "$@"

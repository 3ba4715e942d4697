#!/bin/bash
# Unpacks the sources in other languages that Rust crates carry.
#
#   crate-source.sh DIR MANIFEST CRATE...
#
# Each crate is a dependency of the package that MANIFEST (a Cargo.toml) describes. The script
# prints the directory of its unpacked source, below DIR. cargo fetches the version that the
# package's Cargo.lock pins, and checks it. Sources that DIR already has are not fetched again.
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: crate-source.sh DIR MANIFEST CRATE..." >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd) manifest=$2
shift 2

if [ ! "$dir/.complete" -nt "$(dirname "$manifest")/Cargo.lock" ]; then
  rm -rf "$dir"
  "${CARGO:-cargo}" vendor -q --locked --versioned-dirs --manifest-path "$manifest" "$dir" >"$dir.log" 2>&1 ||
    { tail "$dir.log" >&2 && exit 3; }
  touch "$dir/.complete"
fi
for crate; do
  found=("$dir/$crate"-[0-9]*)
  [ -d "${found[0]}" ] || { echo "crate-source: $manifest has no crate $crate" >&2 && exit 3; }
  echo "${found[0]}"
done

#!/bin/bash
# The input of the programs, as archives (M3x, section 7.3): input.sh OUT
set -euo pipefail
out=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Letters of a generator: the same everywhere. `lines` has 408 lines, 256 KiB in all.
awk 'BEGIN {
  seed = 1
  for (line = 0; line < 408; line++) {
    text = ""
    for (n = 0; n < 642; n++) {
      seed = (seed * 16807) % 2147483647
      text = text substr("abcdefghijklmnopqrstuvwxyz0123456789", seed % 36 + 1, 1)
    }
    print text
  }
}' >lines
mkdir words files tree
mv lines words
lines=words/lines
block() { head -c 131072 "$lines"; }
for _ in 1 2 3 4; do block; done >words/data
for kib in 128 256 512 1024 2048 4096 8192; do
  for _ in $(seq $((kib / 128))); do block; done >files/$kib
done
for folder in $(seq -w 24); do
  mkdir "tree/folder$folder"
  for file in $(seq -w 40); do echo "$folder $file" >"tree/folder$folder/file$file"; done
done

# Times and owners are the same, too.
pack() { tar --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf "$@"; }
pack "$out/tar.tar" files
pack files.tar files
pack "$out/untar.tar" files.tar
(cd words && pack "$out/words.tar" data lines)
(cd tree && pack "$out/tree.tar" ./*)

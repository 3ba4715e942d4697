#!/bin/bash
# Unpacks the sources of Debian packages as upstream wrote them, without Debian's patches.
#
#   debian-source.sh DIR PACKAGE...
#
# For each package it prints the directory of its unpacked source, below DIR/src. Sources that DIR
# already has are not fetched again. apt fetches and checks (release signature, then checksums) with
# the machine's own sources. Their `deb` entries are read as `deb-src`, and lists and cache are in
# DIR. So the script needs neither root nor any setting of the machine.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: debian-source.sh DIR PACKAGE..." >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift

fail() {
  echo "debian-source: $*" >&2
  exit 3
}
# The newest source that apt left here.
dsc() { find "$dir" -maxdepth 1 -name "$1_*.dsc" | sort -V | tail -n 1; }
original() { sed -En 's/^ [0-9a-f]{64} [0-9]+ ([^ ]+\.orig\.tar\.(gz|bz2|xz))$/\1/p' "$1" | head -n 1; }
have() {
  local file
  file=$(dsc "$1")
  [ -n "$file" ] && file=$(original "$file") && [ -n "$file" ] && [ -f "$dir/$file" ]
}

missing=()
for package; do have "$package" || missing+=("$package"); done
if [ ${#missing[@]} -gt 0 ]; then
  command -v apt-get >/dev/null || fail "there is no apt-get; the sources come from Debian's packages"
  rm -rf "$dir/sources"
  mkdir -p "$dir"/sources "$dir"/lists/partial "$dir"/cache/archives/partial
  eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
  for file in "$list" "$parts"/*.list; do
    [ ! -f "$file" ] || sed -n 's/^[[:space:]]*deb[[:space:]]/deb-src /p' "$file" >"$dir/sources/$(basename "$file")"
  done
  for file in "$parts"/*.sources; do
    [ ! -f "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$dir/sources/$(basename "$file")"
  done
  apt=(apt-get -q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$dir/sources"
    -o "Dir::State::lists=$dir/lists" -o "Dir::Cache=$dir/cache" -o "APT::Sandbox::User=$(id -un)"
    -o Acquire::Retries=3)
  cd "$dir"
  # A source of the machine without a `deb-src` side is no obstacle if the packages are found.
  "${apt[@]}" update >"$dir/update.log" 2>&1 || true
  if ! "${apt[@]}" source --download-only "${missing[@]}" >"$dir/source.log" 2>&1; then
    sed 's/^/    /' "$dir/update.log" "$dir/source.log" >&2
    fail "apt cannot fetch ${missing[*]} (above); without a network, put the packages' .dsc and" \
      ".orig.tar files into $dir"
  fi
fi
for package; do
  have "$package" || fail "the source package $package has no .orig.tar"
  archive=$dir/$(original "$(dsc "$package")")
  src=$dir/src/$(basename "${archive%.orig.tar.*}")
  if [ ! -d "$src" ]; then
    rm -rf "$src.part"
    mkdir -p "$src.part"
    tar -xf "$archive" -C "$src.part" --strip-components=1 || fail "cannot unpack $archive"
    mv "$src.part" "$src"
  fi
  echo "$src"
done

#!/bin/bash
# Builds the programs of M3x's Figures 6 and 7, from sources that Debian and crates.io have: applets of
# BusyBox, SQLite, and LevelDB. Each is linked twice from the same objects: for the card, and for Linux
# on the same harts, with the same C library above Linux's calls (docs/paper-m3x.md).
#
#   build.sh OUT                 what `flick bench paper m3x --programs OUT` measures
#   build.sh --busybox OUT       the applets for the card alone, in OUT/card
#
# OUT/card and OUT/linux have the programs, OUT/input their files, OUT/list their arguments, and OUT/boot
# Linux with its RAM disk. `flick` of the build (FLICK_ROOT, or build/) compiles.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
only_busybox=
[ "${1:-}" != --busybox ] || { only_busybox=yes && shift; }
[ $# = 1 ] || { sed -n '2,/^set/s/^# \?//p' "$0" | head -n -1 >&2; exit 2; }
mkdir -p "$1"/{card,linux,objects,input,boot}
out=$(cd "$1" && pwd)
prefix=${FLICK_ROOT:-$root/build}
flick=$prefix/bin/flick
objects=$out/objects

source_of() { "$root/scripts/debian-source.sh" "$out/sources" "$1"; }
busybox=$(source_of busybox)

# Compiles what is older than its source. The object's name is that of the source.
jobs=()
compile() { # FRONT-END SOURCE OPTION...
  local front=$1 source=$2 object
  shift 2
  object=$objects/$(tr / _ <<<"${source#"$out"/}").o
  jobs+=("$object")
  [ "$object" -nt "$source" ] && [ "$object" -nt "$flick" ] && return
  echo "$flick card $front -c -O2 -w -ffunction-sections -fdata-sections $* $source -o $object" >>"$objects/list"
}
compile_all() {
  [ ! -s "$objects/list" ] || xargs -P "$(nproc)" -I{} sh -c '{}' <"$objects/list"
  : >"$objects/list"
}
: >"$objects/list"

# BusyBox: the applets of busybox.config, each a program of its own.
config=$objects/busybox
if [ ! "$config/include/autoconf.h" -nt "$here/busybox/config" ]; then
  mkdir -p "$config"
  make -s -C "$busybox" HOSTCC=clang-19 O="$config" allnoconfig >"$config.log" 2>&1
  sed "s/.*/s|^# CONFIG_& is not set|CONFIG_&=y|/" "$here/busybox/config" >"$config.sed"
  sed -i -f "$config.sed" "$config/.config"
  { yes '' || true; } | make -s -C "$config" HOSTCC=clang-19 oldconfig >>"$config.log" 2>&1
  make -s -C "$config" HOSTCC=clang-19 include/autoconf.h include/config/MARKER >>"$config.log" 2>&1
fi
of_busybox=(-std=gnu99 -D_GNU_SOURCE -I"$here/busybox/include"
  -I"$config/include" -I"$busybox/include" -I"$busybox/libbb" -include "$here/busybox/include/before.h"
  -include "$config/include/autoconf.h")
jobs=()
while read -r file; do
  compile cc "$busybox/$file" "${of_busybox[@]}"
done <"$here/busybox/files"
compile_all
rm -f "$objects/busybox.a"
llvm-ar-19 rc "$objects/busybox.a" "${jobs[@]}"

# NAME's objects for the card, with the library that LIBRARY has in front of its own.
for_card() { # FRONT-END NAME LIBRARY OBJECT...
  "$flick" card "$1" -O2 -Wl,--gc-sections -Wl,-s "${@:4}" $3 -o "$out/card/$2"
}
applet() { # NAME
  local main=$1_main
  [ "$1" != sha256sum ] || main=md5_sha1_sum_main
  "$flick" card cc -c -O2 -w "${of_busybox[@]}" "-DAPPLET=$main" "-DNAME=\"$1\"" "$here/busybox/applet.c" \
    -o "$objects/$1.o"
}
applets=(tar sort find sha256sum)
for name in "${applets[@]}"; do applet "$name"; done
if [ -n "$only_busybox" ]; then
  for name in "${applets[@]}"; do for_card cc "$name" "" "$objects/$name.o" "$objects/busybox.a"; done
  exit
fi

# SQLite and LevelDB.
leveldb=$(source_of leveldb)
sqlite=$("$root/scripts/crate-source.sh" "$out/crates" "$root/tests/real/world/Cargo.toml" libsqlite3-sys)/sqlite3
of_sqlite=(-DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_WAL -DSQLITE_MAX_MMAP_SIZE=0
  -DSQLITE_OS_UNIX=1 -I"$sqlite")
of_leveldb=(-std=c++17 -DLEVELDB_PLATFORM_POSIX=1 -I"$here/leveldb" -I"$leveldb" -I"$leveldb/include")
jobs=()
compile cc "$sqlite/sqlite3.c" "${of_sqlite[@]}"
compile cc "$here/sqlite_work.c" "${of_sqlite[@]}"
sqlite_objects=("${jobs[@]}")
jobs=()
while read -r file; do
  compile c++ "$leveldb/$file" "${of_leveldb[@]}"
done <"$here/leveldb/files"
compile c++ "$here/leveldb_work.cc" "${of_leveldb[@]}"
leveldb_objects=("${jobs[@]}")
jobs=()
compile cc "$here/measure.c"
compile cc "$here/mark.c"
compile cc "$here/replay.c"
compile_all
measure=${jobs[0]}
mark=${jobs[1]}
replay=${jobs[2]}

# The C library a second time: its calls of the kernel are functions of ours, that count their cycles, or
# make those of Linux.
headers=$objects/include
mkdir -p "$headers/flick"
awk -f "$here/outline.awk" "$prefix/lib/flick/card/include/flick/card.h" >"$headers/flick/card.h"
make -s -C "$root/firmware/lib" OUT="$objects/library" HEADERS="$headers" >"$objects/library.log" 2>&1 ||
  { tail "$objects/library.log" >&2; exit 1; }
parts=$objects/library/objects
"$flick" card cc -c -O2 "$here/card_calls.c" -o "$objects/card_calls.o"
rm -f "$objects"/{card,linux}.a
llvm-ar-19 rc "$objects/card.a" "$parts"/*.o "$objects/card_calls.o"
linux=()
record=
for file in "$here"/linux/*.[cS]; do
  linux+=("$objects/linux_$(basename "$file").o")
  "$flick" card cc -c -O2 -ffunction-sections -I"$headers" -I"$root/firmware/lib/src" -D_GNU_SOURCE "$file" \
    -o "${linux[-1]}"
  [ "$(basename "$file")" = record_calls.c ] || continue
  record=${linux[-1]}
  unset "linux[-1]"
done
# What the library has for the card alone.
for_card=(archive channels console current_folder file_table file_tree files mappings modes named
  paths process requests server_call server_files server_paths spawn start syncs)
kept=()
for file in "$parts"/*.o; do
  case " ${for_card[*]} " in *" $(basename "$file" .o) "*) ;; *) kept+=("$file") ;; esac
done
llvm-ar-19 rc "$objects/linux.a" "${linux[@]}" "${kept[@]}"

for_linux() { # FRONT-END NAME OBJECT...
  "$flick" card "$1" -O2 -Wl,--gc-sections -Wl,-s -Wl,-e,linux_start "${@:3}" "$objects/linux_start.S.o" \
    "$objects/linux.a" -o "$out/linux/$2"
}
measured() { # FRONT-END NAME OBJECT...
  for_card "$1" "$2" "$objects/card.a" -Wl,--wrap=main "${@:3}" "$measure"
  for_linux "$1" "$2" -Wl,--wrap=main "${@:3}" "$measure"
  # It writes its calls down, for those who repeat them.
  [ "$2" = replay ] || for_linux "$1" "record-$2" -Wl,--wrap=main "$record" "${@:3}" "$measure"
}
for name in "${applets[@]}"; do measured cc "$name" "$objects/$name.o" "$objects/busybox.a"; done
measured cc sqlite "${sqlite_objects[@]}"
measured c++ leveldb "${leveldb_objects[@]}"
measured cc replay "$replay"
for_linux cc mark "$mark"

# Input, and Linux with all in its RAM disk.
[ "$out/input/tree.tar" -nt "$here/input.sh" ] || "$here/input.sh" "$out/input"
cp "$here/list" "$out/list"
FLICK_LINUX=$out/debian "$root/scripts/linux.sh" --prepare >"$out/linux.log"
cp "$out/debian"/{Image,fw_dynamic.bin} "$out/boot"
disk=$out/debian/ramdisk
rm -rf "$disk"
cp -a "$out/debian/initrd" "$disk"
rm -rf "$disk/mod"
for name in tar; do ln -sf busybox "$disk/bin/$name"; done
mkdir -p "$disk"/{programs,input}
cp "$out"/linux/* "$disk/programs"
cp "$out"/input/*.tar "$disk/input"
cp "$out/list" "$disk/list"
install -m 755 "$here/linux/init" "$disk/init"
(cd "$disk" && find . | sort | cpio --quiet -o -H newc) >"$out/boot/initrd.cpio"

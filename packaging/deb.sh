#!/bin/bash
# Makes flick_VERSION_amd64.deb out of a build tree (`make deb`). The version is Cargo's.
#
#   deb.sh BUILD OUT     DEBFULLNAME, DEBEMAIL: the maintainer's name and address
set -euo pipefail
[ $# = 2 ] || { echo "usage: deb.sh BUILD OUT" >&2; exit 2; }
build=$(realpath "$1") out=$2
source=$(cd "$(dirname "$0")/.." && pwd)
maintainer="${DEBFULLNAME:-The Flick authors} <${DEBEMAIL:-flick@example.org}>"
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$source/Cargo.toml")
# The day of the last change, so that the same tree gives the same package.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree doc=$work/tree/usr/share/doc/flick

mkdir -p "$tree/usr" "$tree/DEBIAN"
cd "$build"
cp -a --no-preserve=ownership bin include lib share "$tree/usr/"
rm -f "$doc"/LICENSE-*
# Where gdb trusts what a package brings.
mkdir -p "$tree/usr/share/gdb/auto-load/usr/lib/flick"
mv "$tree"/usr/lib/flick/libflick.so.*-gdb.py "$tree/usr/share/gdb/auto-load/usr/lib/flick/"
find "$tree/usr" -type d -exec chmod 755 {} + -o -type f -perm -u+x -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
strip --strip-unneeded --remove-section=.comment "$tree/usr/bin/flick"
strip --strip-unneeded --remove-section=.comment "$tree/usr/lib/flick/flick-pass.so"
# gdb finds the frames of NxP code by .debug_frame.
strip --strip-unneeded --remove-section=.comment --keep-section=.debug_frame "$tree"/usr/lib/flick/libflick.so.*
strip --strip-unneeded --remove-section=.comment "$tree/usr/lib/flick/libflick-debug.so" "$tree/usr/lib/flick/libflick-card.so"
chmod 644 "$tree"/usr/lib/flick/{flick-pass.so,libflick-debug.so,libflick-card.so,libflick.so.*}
strip --strip-debug --keep-section=.debug_frame --enable-deterministic-archives "$tree/usr/lib/flick/libflick.a"
find "$tree/usr/share/man" -type f -exec gzip -9n {} +
date=$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
gzip -9n >"$doc/changelog.gz" <<END
flick ($version) unstable; urgency=medium

  * Release $version.

 -- $maintainer  $date
END
{
  cat <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: flick

Files: *
Copyright: $(sed -n 's/^Copyright (c) //p' "$source/LICENSE-MIT")
License: Apache-2.0 or Expat

Files: usr/lib/flick/card/c++/*
Copyright: Free Software Foundation, Inc.
License: GPL-3+ with GCC-runtime-library-exception

License: GPL-3+ with GCC-runtime-library-exception
 libstdc++, built from Debian's gcc-12-source. On Debian systems the text of the GNU General Public
 License, version 3, is in /usr/share/common-licenses/GPL-3, and that of the GCC Runtime Library
 Exception, version 3.1, in /usr/share/doc/libstdc++6/copyright.

License: Apache-2.0
 On Debian systems the text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.

License: Expat
END
  sed -e '1,/^Copyright/d' -e 's/^$/./' -e 's/^/ /' "$source/LICENSE-MIT" | sed '1{/^ \.$/d}'
} >"$doc/copyright"

# What the binaries are linked with; the tools that the command runs stand in control.
mkdir "$work/debian"
printf 'Source: flick\n\nPackage: flick\nArchitecture: amd64\n' >"$work/debian/control"
libraries=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info "$tree/usr/bin/flick" \
  "$tree"/usr/lib/flick/*.so 2>"$work/log" | sed -n 's/^shlibs:Depends=//p') || { cat "$work/log" >&2; exit 1; }
cat >"$tree/DEBIAN/control" <<END
Package: flick
Version: $version
Architecture: amd64
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$tree/usr" | cut -f1)
Depends: $libraries, clang-19, lld-19, binutils, libc6-dev
Recommends: llvm-19
Suggests: gdb
Section: devel
Priority: optional
Description: one program on two kinds of core
 Flick compiles marked functions of an ordinary C or C++ program for RISC-V and
 the rest for x86-64, into one ELF file with one address space. A thread that
 calls a marked function migrates to the other core and comes back at the
 return. The other core is a RISC-V core in software, inside the process.
END
(cd "$tree" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
mkdir -p "$tree/usr/share/lintian/overrides"
cp "$source/packaging/lintian-overrides" "$tree/usr/share/lintian/overrides/flick"
(cd "$tree" && md5sum usr/share/lintian/overrides/flick >>DEBIAN/md5sums)
mkdir -p "$out"
dpkg-deb -Zxz --root-owner-group --build "$tree" "$out/flick_${version}_amd64.deb" >/dev/null
echo "$out/flick_${version}_amd64.deb"

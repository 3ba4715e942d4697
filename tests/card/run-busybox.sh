#!/bin/bash
# Programs of others on the card, with their files on a server: applets of BusyBox from Debian's sources
# (bench/paper/m3x/programs). What they print is what the host's own programs print.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/card-busybox
need kernel-root.elf file-server
mkdir -p "$work" && cd "$work"
machine=$here/accelerators/root_chain.toml

"$root/bench/paper/m3x/programs/build.sh" --busybox "$work/built" >log 2>&1
case $? in
  0) verdict 0 "the applets are built" ;;
  3) skip "BusyBox" "its sources cannot be fetched ($work/log)" && conclude ;;
  *) verdict 1 "the applets are built ($work/log)" ;;
esac
export LC_ALL=C

rm -rf in && mkdir -p in/tree/{one,two/three}
for n in 1 7 12 100; do seq 1 $((n * n)) >in/tree/two/three/$n; done
seq 3000 -7 1 >in/tree/one/numbers
: >in/tree/empty
(cd in && tar --format=ustar -cf ../tree.tar tree && find tree | sort >../names && mkdir ../all 2>/dev/null
  cp ../tree.tar . && tar --format=ustar -cf ../packed.tar tree.tar)

on_card() { # ARCHIVE PROGRAM ARGUMENT...: what it prints
  local archive=$1 program=$2
  shift 2
  timeout 120 "$flick" machine run --machine "$machine" --program "built/card/$program" --file "$archive" -- "$@" \
    --program "$card/file-server" -- --size 4 --sessions 1 "$archive" </dev/null 2>&1
}
is() { # WHAT WANTED FOUND
  diff "$2" "$3"
  verdict $? "$1"
}
on_card tree.tar find /srv/files/tree | sed 's|^/srv/files/||' | sort >found
is "find" names found
on_card tree.tar find /srv/files/tree -name '1*' -type f | sed 's|^/srv/files/||' | sort >found
is "find by name and kind" <(grep -E '/1[^/]*$' names) found
on_card tree.tar sha256sum /srv/files/tree/two/three/{1,7,12,100} | sed 's|/srv/files/||' >found
is "sha256sum" <(cd in && sha256sum tree/two/three/{1,7,12,100}) found
on_card tree.tar sort /srv/files/tree/one/numbers >found
is "sort" <(sort in/tree/one/numbers) found
on_card tree.tar sort -rn /srv/files/tree/one/numbers /srv/files/tree/two/three/12 >found
is "sort -rn of two files" <(sort -rn in/tree/one/numbers in/tree/two/three/12) found
on_card tree.tar tar -cf - -C /srv/files tree >found.tar
is "the names of a new archive" names <(tar -tf found.tar | sed 's|/$||' | sort)
(mkdir -p unpacked && cd unpacked && rm -rf tree && tar -xf ../found.tar && diff -r tree ../in/tree)
verdict $? "the contents of a new archive"
on_card packed.tar tar -tf /srv/files/tree.tar | sed 's|/$||' | sort >found
is "the names of an archive" names found
on_card packed.tar tar -xOf /srv/files/tree.tar tree/two/three/100 >found
is "a file of an archive" in/tree/two/three/100 found
on_card packed.tar tar -xf /srv/files/tree.tar -C /none >found
grep -q "tar: can't change directory to '/none': No such file or directory" found
verdict $? "a folder that is not there"

# Unpacked by one program, and read by another one.
"$flick" card cc -O2 -Wall -Wextra -Werror -o runs_two "$here/files/runs_two.c"
verdict $? "a program that runs two others is compiled"
timeout 120 "$flick" machine run --machine "$machine" --servers --program runs_two --file packed.tar --file built/card/tar=tar \
  --file built/card/sha256sum=sha256sum -- tar -xf /srv/files/tree.tar -C /srv/files -- sha256sum \
  /srv/files/tree/two/three/100 /srv/files/tree/one/numbers --program "$card/file-server" -- --size 4 --sessions 2 \
  packed.tar </dev/null 2>&1 | sed 's|/srv/files/||' >found
is "files that tar has unpacked" <(cd in && sha256sum tree/two/three/100 tree/one/numbers) found
conclude

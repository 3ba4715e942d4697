# Plain make: a path with spaces, -j, dependency files, a placement file that changes, install with
# DESTDIR, stripped.
. "$FLICK_TEST_PROJECTS/lib.sh"
copy tally "the source"
cd "the source"
make -s CC=clang-19 BUILD=plain
plain_tally plain/tally plain/plugins >../want
make -s CC=clang-19 BUILD=plain check >../want.check

flick=(make CC="$(with_place "$PWD")" BUILD=out -j2)
"${flick[@]}"
run_tally ../want out/tally out/plugins
FLICK_OFFLOAD=require "${flick[@]}" -s check | diff ../want.check -

# Nothing changed: nothing is built.
"${flick[@]}" | tee ../again
! grep -q -e '-[co] ' ../again || die "built again"
# Only the placement changed: what was compiled with it is compiled again.
sleep 1.1
sed -i 's/^nxp tally_checksum/host tally_checksum/' tally.place
"${flick[@]}" >../again
grep -q 'checksum.c' ../again || die "the placement file is no prerequisite: $(cat out/lib/checksum.d)"
require out/tally sample.txt out/plugins/length.so out/plugins/vowels.so | diff ../want -
! grep 'host-to-nxp.*tally_checksum' ../record || die "still on the NxP"
sed -i 's/^host tally_checksum/nxp tally_checksum/' tally.place
sleep 1.1
touch tally.place

"${flick[@]}" install DESTDIR="$here/stage" PREFIX=/usr
cd "$here"
rm -rf "the source"
mv stage elsewhere
run_tally want elsewhere/usr/bin/tally elsewhere/usr/lib/tally

# The whole project's placement was of use, and a missing entry is found.
modules=(elsewhere/usr/bin/tally elsewhere/usr/lib/libtally.so.1 elsewhere/usr/lib/tally/length.so)
if flick place --check "$projects/tally/tally.place" "${modules[@]}" 2>err; then die "another file"; fi
grep -q FLK0210 err

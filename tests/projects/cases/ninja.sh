# A build.ninja written by hand, with dependency files.
. "$FLICK_TEST_PROJECTS/lib.sh"
copy tally source
build() { # DIR COMPILER
  mkdir -p "$1"
  printf 'src = ../source\nflags = -O2 -g\ncc = %s\n' "$2" >"$1/settings.ninja"
  ninja -C "$1" -f ../source/build.ninja all check
}
build plain clang-19
plain_tally plain/tally plain/plugins >want
build out "$(with_place "$here/source")"
run_tally want out/tally out/plugins
diff plain/rank.log out/rank.log
build out "$(with_place "$here/source")" | tee again
grep -q 'no work to do' again || die "built again"

# Only the placement changed.
sleep 1.1
sed -i 's/^nxp tally_checksum/host tally_checksum/' source/tally.place
build out "$(with_place "$here/source")"
require out/tally source/sample.txt out/plugins/{length,vowels}.so | diff want -
! grep 'host-to-nxp.*tally_checksum' record || die "still on the NxP"

# The translation in a program is for another runtime or image, or the program has none: the code is
# translated at run time or interpreted, with the same result.
. "$FLICK_TEST_ERRORS/lib.sh"
two_objects
"$cc" -no-pie main.o part.o -o prog
# place FILE ADDRESS: where the byte at an address is in the file.
place() {
  readelf -SW "$1" | sed -n 's/^ *\[ *[0-9]*\] *//p' | while read -r _ type start at size _; do
    [ "$type" = PROGBITS ] || continue
    from=$(($2 - 16#$start))
    if [ $from -ge 0 ] && [ $from -lt $((16#$size)) ]; then echo $((16#$at + from)); fi
  done | head -n 1
}
# engine PROGRAM: it prints 42; what has executed NxP code, and how many functions were translated.
engine() {
  status 0 env FLICK_OFFLOAD=require "$1"
  has out 42
  rm -f stats
  status 0 env FLICK_OFFLOAD=require FLICK_ENGINE=ahead FLICK_STATS="$PWD/stats" "$1"
  has out 42
  awk '$1 == "instructions" { print $2 }' stats
}
module=$((16#$(nm prog | awk '$3 == "__flick_module" { print $1 }')))
record=$(od -An -tu8 -j $(($(place prog $module) + 240)) -N 8 prog)
offset=$(place prog "$record")
[ "$(od -An -tu4 -j "$offset" -N 8 prog | tr -s ' ')" = ' 3 128' ] || die "no record of a translation"
[ "$(engine ./prog)" = 0 ] || die "the translation was not used"
for version in '\1' '\4'; do
  cp prog other-abi && put other-abi "$offset" "$version"
  [ "$(engine ./other-abi)" -gt 0 ] || die "a translation for another runtime was used"
done
cp prog other-image && flip other-image $((offset + 8))
[ "$(engine ./other-image)" -gt 0 ] || die "a translation of another image was used"
# Records of earlier links have no table of leaves.
cp prog earlier && put earlier $((offset + 4)) '\160'
[ "$(engine ./earlier)" = 0 ] || die "a record without leaves was not used"
cp prog short && put short $((offset + 4)) '\20'
[ "$(engine ./short)" -gt 0 ] || die "a record that is too short was used"
"$cc" --flick-translate=run main.o part.o -o none
[ "$(engine ./none)" -gt 0 ] || die "there is a translation"
! nm none | grep -q '\.nxp$' || die "there is translated code"

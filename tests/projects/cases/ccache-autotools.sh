# ccache in front, autotools with libtool.
. "$FLICK_TEST_PROJECTS/ccache.sh"
source=$here/source
copy tally "$source"
rm "$source/Makefile" "$source/config.template"
(cd "$source" && autoreconf -i) >log 2>&1
mkdir out
(cd out && CCACHE_DISABLE=1 "$source/configure" --disable-static CC="ccache flick-cc --flick-place=$source/tally.place")
clean() { make -s -C out clean; }
build() { make -s -C out -j2; }
program=$here/out/tally plugins=$here/out/.libs units=6
rounds

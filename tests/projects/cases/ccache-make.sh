# ccache in front, plain make.
. "$FLICK_TEST_PROJECTS/ccache.sh"
source=$here/source
copy tally "$source"
clean() { make -s -C "$source" clean; }
build() { make -s -C "$source" -j2 CC="ccache flick-cc --flick-place=$source/tally.place"; }
program=$source/build/tally plugins=$source/build/plugins units=6
rounds
another_flick

# ccache in front, Meson.
. "$FLICK_TEST_PROJECTS/ccache.sh"
source=$here/source
copy tally "$source"
CC="ccache flick-cc" CFLAGS="--flick-place=$source/tally.place" meson setup out "$source"
clean() { ninja -C out -t clean >/dev/null; }
build() { ninja -C out >/dev/null; }
program=$here/out/tally plugins=$here/out units=8
rounds

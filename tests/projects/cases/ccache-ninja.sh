# ccache in front, Ninja.
. "$FLICK_TEST_PROJECTS/ccache.sh"
source=$here/source
copy tally "$source"
mkdir out
printf 'src = ../source\nflags = -O2\ncc = ccache %s\n' "$(with_place "$source")" >out/settings.ninja
clean() { ninja -C out -f ../source/build.ninja -t clean >/dev/null; }
build() { ninja -C out -f ../source/build.ninja >/dev/null; }
program=$here/out/tally plugins=$here/out/plugins units=6
rounds

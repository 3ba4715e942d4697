# ccache as CMake's compiler launcher.
. "$FLICK_TEST_PROJECTS/ccache.sh"
source=$here/source
copy tally "$source"
cmake -S "$source" -B out -G Ninja --toolchain "$flick_root/share/flick/cmake/flick-toolchain.cmake" \
  -DFLICK_PLACE="$source/tally.place" -DCMAKE_C_COMPILER_LAUNCHER=ccache
clean() { ninja -C out -t clean >/dev/null; }
build() { ninja -C out >/dev/null; }
program=$here/out/tally plugins=$here/out/plugins units=8
rounds

# CMake with CMAKE_C_COMPILER=flick-cc, Makefiles and Ninja: tests, install to another directory
# (where CMake rewrites run paths), stripped.
. "$FLICK_TEST_PROJECTS/lib.sh"
copy tally "the source"
cmake -S "the source" -B plain -DCMAKE_C_COMPILER=clang-19 >log
cmake --build plain -j2 >>log
plain_tally plain/tally plain/plugins >want

for generator in "Unix Makefiles" Ninja; do
  out="out $generator"
  cmake -S "the source" -B "$out" -G "$generator" -DCMAKE_C_COMPILER=flick-cc \
    -DCMAKE_C_FLAGS="--flick-place='$here/the source/tally.place'" -DCMAKE_INSTALL_PREFIX=/usr/local |
    tee log
  grep -q 'C compiler identification is Clang 19' log
  cmake --build "$out" -j2
  (cd "$out" && ctest --output-on-failure)
  run_tally want "$out/tally" "$out/plugins"
  DESTDIR=$here/stage cmake --install "$out" --strip
  mv "$out" gone
  mv stage "elsewhere"
  run_tally want elsewhere/usr/local/bin/tally elsewhere/usr/local/lib/tally
  readelf -d elsewhere/usr/local/bin/tally
  rm -rf elsewhere gone
done

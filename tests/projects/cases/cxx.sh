# C++ by CMake with the toolchain file, and by Meson.
. "$FLICK_TEST_PROJECTS/lib.sh"
copy shapes "the source"
cmake -S "the source" -B plain -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 >log
cmake --build plain >>log
plain/shapes >want

# Mangled or not.
wanted='\S*total_area.*@libshapes.so \S*Polygon.*area.*@libshapes.so'
cmake -S "the source" -B "out cmake" -G Ninja --toolchain "$flick_root/share/flick/cmake/flick-toolchain.cmake"
cmake --build "out cmake"
(cd "out cmake" && ctest --output-on-failure)
same want $wanted -- "out cmake/shapes"
CXX=flick-c++ meson setup "out meson" "the source"
meson compile -C "out meson"
meson test -C "out meson"
same want $wanted -- "out meson/shapes"

# find_package(Flick) in a project of gcc's, and of clang's: some targets by Flick, the others not.
. "$FLICK_TEST_PROJECTS/lib.sh"
copy onetarget "the source"
echo '67 2' >want

build() { # DIR GENERATOR COMPILER CMAKE-OPTION...
  cmake -S "the source" -B "$1" -G "$2" -DCMAKE_C_COMPILER="$3" -DCMAKE_PREFIX_PATH="$flick_root" "${@:4}"
  cmake --build "$1" -j2
}
run() { # DIR COMPILER
  same want kernel_sum@app steps_to_one@libsteps.so -- "$1/app" 2>err
  grep -q "^$2" err || die "the project's compiler is not $2 any more: $(cat err)"
  if grep plain_marked record; then die "a mark in a target without Flick counts"; fi
  (cd "$1" && ctest --output-on-failure)
}
build "out make" "Unix Makefiles" gcc -DCMAKE_CXX_COMPILER=g++
run "out make" gcc
build "out ninja" Ninja clang-19 -DCMAKE_CXX_COMPILER=clang++-19
run "out ninja" clang
# The placement file is a prerequisite of what is compiled with it.
sleep 1.1
sed -i 's/nxp/host/' "the source/kernel/steps.place"
cmake --build "out ninja"
require "out ninja/app" | diff want -
if grep 'host-to-nxp.*steps_to_one' record; then die "still on the NxP"; fi
sed -i 's/host/nxp/' "the source/kernel/steps.place"

# The program is linked by gcc: the link fails and names the page to read. It must not fail earlier,
# over the runtime that the shared library brings.
if build broken Ninja gcc -DCMAKE_CXX_COMPILER=g++ -DLINK_BY_FLICK=OFF >log; then die "gcc linked NxP code"; fi
grep -q see_flick_explain_FLK0301 log
# What is wrong with a call says so at configure time.
for call in 'flick_target()' 'flick_target(nobody)' 'flick_target(kernel PLACE missing.place)' \
  'flick_target(Flick::flick)'; do
  echo "$call" | cat "$projects/onetarget/CMakeLists.txt" - >"the source/CMakeLists.txt"
  if cmake -S "the source" -B wrong -DCMAKE_PREFIX_PATH="$flick_root" >log 2>&1; then die "accepted: $call"; fi
  tr -s ' \n' ' ' <log | grep -q 'flick_target' || die "$(cat log)"
done
# The project's compiler is Flick's own.
copy onetarget again
cmake -S again -B whole -G Ninja --toolchain "$flick_root/share/flick/cmake/flick-toolchain.cmake" \
  -DCMAKE_PREFIX_PATH="$flick_root"
cmake --build whole
same want kernel_sum@app steps_to_one@libsteps.so plain_marked@app -- whole/app

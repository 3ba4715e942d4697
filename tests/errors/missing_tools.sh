# A PATH without the tools that Flick calls, one missing at a time.
. "$FLICK_TEST_ERRORS/lib.sh"
two_objects
mkdir all
for tool in clang-19 ld.lld-19 llvm-objdump-19 ld ld.bfd ld.lld as; do
  path=$(command -v $tool) && ln -s "$(readlink -f "$path")" all/$tool
done
# clang finds its own parts beside itself, so that it must not be started through a link.
printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v clang-19)" >wrapper
chmod +x wrapper && mv -f wrapper all/clang-19
status 0 env PATH=$PWD/all "$cc" main.o part.o -o prog
status 0 ./prog
with_out() {
  rm -rf some && cp -a all some && rm "some/$1"
}
with_out clang-19
refuses FLK0102 clang-19 'apt-get install clang-19' -- env PATH=$PWD/some:/nowhere "$cc" -c main.c -o x.o
refuses FLK0102 clang-19 -- env PATH=$PWD/some:/nowhere "$cc" main.o part.o -o prog
with_out ld.lld-19
refuses FLK0102 ld.lld-19 'apt-get install lld-19' -- env PATH=$PWD/some:/nowhere "$cc" main.o part.o -o prog
# A link that fails leaves no program, as with clang.
[ ! -e prog ]
"$cc" main.o part.o -o prog
with_out llvm-objdump-19
refuses FLK0102 llvm-objdump-19 'apt-get install llvm-19' -- env PATH=$PWD/some:/nowhere "$flick" objdump -d prog
refuses FLK0102 clang-19 -- env PATH= "$cc" -c main.c -o x.o

# A program without NxP code whose library has some, where the loader would find it: the tools name
# it.
. "$FLICK_TEST_ERRORS/lib.sh"
mkdir -p lib other .libs
cat >work.c <<'C'
#include <flick.h>
FLICK_NXP int work(int x) { return x + 1; }
C
cat >between.c <<'C'
int work(int);
int between(int x) { return work(x); }
C
cat >main.c <<'C'
int between(int);
int main(void) { return between(-1); }
C
"$cc" -shared -fPIC work.c -o lib/libwork.so
clang-19 -shared -fPIC between.c -Llib -lwork -o other/libbetween.so
link() { clang-19 main.c other/libbetween.so -Wl,-rpath-link,lib "$@"; }
# sees PROGRAM LIBRARY: through what the program needs itself, and through that.
sees() {
  status 0 "$flick" place --explain "$1"
  has out 'work' "$2, a library that it needs:" 'marked in the source' 'no function was marked'
  refuses FLK0307 "a library that it needs has some: $2" -- "$flick" objdump -d "$1"
}
# With -rpath of the old kind also for what the library needs; else by the environment.
link -Wl,--disable-new-dtags -Wl,-rpath,'$ORIGIN/other:$ORIGIN/lib' -o old
sees old "$PWD/lib/libwork.so"
link -o bare
refuses FLK0307 'no function was marked' -- "$flick" place --explain bare
LD_LIBRARY_PATH=other:lib sees bare lib/libwork.so
link -Wl,--enable-new-dtags -Wl,-rpath,"$PWD/other" -o new
refuses FLK0307 -- "$flick" place --explain new
LD_LIBRARY_PATH=lib sees new lib/libwork.so
# As libtool has it: nothing leads from the program to its libraries but the script beside it.
link -o .libs/tool
cat >tool <<S
#! /bin/bash
# tool - temporary wrapper script for .libs/tool
LD_LIBRARY_PATH="$PWD/other:$PWD/lib:\$LD_LIBRARY_PATH"
S
sees .libs/tool "$PWD/lib/libwork.so"
for words in 'place --explain' 'objdump -d'; do
  refuses FLK0304 'the script by which libtool runs a program' 'name the program: .libs/tool' -- "$flick" $words tool
done
# Where the program has functions of its own, the library is named behind them.
cat >own.c <<'C'
#include <flick.h>
int work(int);
FLICK_NXP int own(int x) { return work(x); }
int main(void) { return own(-1); }
C
"$cc" own.c -Llib -lwork -Wl,-rpath,"$PWD/lib" -o own
status 0 "$flick" place --explain own
has out 'own' "1 more function in a library: flick place --explain $PWD/lib/libwork.so"
# A run that leaves no record did have NxP code.
cat >leaves.c <<'C'
#include <unistd.h>
int between(int);
int main(void) { _exit(between(-1)); }
C
clang-19 leaves.c -Lother -lbetween -Wl,-rpath-link,lib -o leaves
LD_LIBRARY_PATH=other:lib status 0 "$flick" stat ./leaves
has err 'it left by _exit'

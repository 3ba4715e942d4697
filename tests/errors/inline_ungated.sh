# An inline function that is placed in one unit and not in another: the link says so where the kept
# definition is the one without a gate, and only there.
. "$FLICK_TEST_ERRORS/lib.sh"
cxx=$FLICK_TEST_CXX
cat >part.h <<'CXX'
#include <flick.h>
namespace ns {
template <class T> struct Stack {
  FLICK_NXP __attribute__((noinline)) T push(T x) { return x + 1; }
};
} // namespace ns
int other(int x);
CXX
cat >main.cpp <<'CXX'
#include "part.h"
#include <cstdio>
int main() { return printf("%d %d\n", ns::Stack<int>().push(1), other(2)) == 0; }
CXX
cat >other.cpp <<'CXX'
#include "part.h"
int other(int x) { return ns::Stack<int>().push(x); }
CXX
"$cxx" -c main.cpp -o main.o
"$cxx" -c other.cpp -o gated.o
clang++-19 -c other.cpp -o plain.o
ar rcs libplain.a plain.o
cat >warns.c <<'C'
int puts(const char *);
__attribute__((section(".gnu.warning.puts"), used)) static const char warning[] = "puts is here";
void warns(void);
void warns(void) { puts("x"); }
C
clang-19 -c warns.c
for linker in bfd lld; do
  status 0 "$cxx" -fuse-ld=$linker plain.o main.o -o prog
  has err 'flick: warning: [FLK0309]' 'plain.o' "'ns::Stack<int>::push(int)'" 'main.cpp places it' 'help:'
  [ "$(./prog)" = "2 3" ] || die "not the output"
  # The same where the output has no symbols.
  for strip in -s -Wl,-x -Wl,--strip-all; do
    status 0 "$cxx" -fuse-ld=$linker $strip plain.o main.o -o stripped
    has err 'flick: warning: [FLK0309]' 'plain.o' "'ns::Stack<int>::push(int)'"
    [ "$(wc -l <err)" = 2 ] || die "$(cat err)"
    [ "$(./stripped)" = "2 3" ] || die "not the output"
    status 0 "$cxx" -fuse-ld=$linker $strip main.o plain.o -o stripped
    [ ! -s err ] || die "$(cat err)"
  done
  # The linker speaks once.
  status 0 "$cxx" -fuse-ld=$linker plain.o main.o warns.o -o prog
  cp err once
  status 0 "$cxx" -fuse-ld=$linker -s plain.o main.o warns.o -o stripped
  cmp err once || die "$(cat err)"
  ! nm stripped 2>nm.err | grep push || die "not stripped"
  status 0 "$cxx" -fuse-ld=$linker -Wl,--whole-archive libplain.a -Wl,--no-whole-archive main.o -o prog
  has err 'libplain.a(plain.o)'
  status 0 "$cxx" -fuse-ld=$linker main.o plain.o -o prog
  [ ! -s err ] || die "$(cat err)"
  status 0 "$cxx" -fuse-ld=$linker gated.o main.o -o prog
  [ ! -s err ] || die "$(cat err)"
  [ "$(./prog)" = "2 3" ] || die "not the output"
done

# A static function that only NxP functions call leaves no trace; another unit's of that name is
# another function.
cat >one.c <<'C'
#include <flick.h>
FLICK_NXP static inline int helper(int x) { return x + 1; }
FLICK_NXP int one(int x) { return helper(x); }
C
cat >two.c <<'C'
int one(int x);
__attribute__((noinline)) static int helper(int x) { return x + 2; }
int main(void) { return one(1) + helper(1) - 5; }
C
status 0 "$cc" -O2 one.c two.c -o prog
[ ! -s err ] || die "$(cat err)"
status 0 ./prog

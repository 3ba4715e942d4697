# What the linker says of a failed link stays as it is; behind it a note says what the error has to
# do with NxP code, in the names of the source. A link that has none gets no note.
. "$FLICK_TEST_ERRORS/lib.sh"
cxx=$FLICK_TEST_CXX
# note TEXT... -- COMMAND...: the link fails, and the note has these texts.
note() {
  refuses FLK0310 'flick: note: [FLK0310]' 'help: ' "$@"
}
cat >call.c <<'C'
int area(int);
int main(void) { return area(1); }
C
cat >call.cpp <<'C'
int area(int);
int main() { return area(1); }
C
cat >area.c <<'C'
#include <flick.h>

FLICK_NXP int area(int x) { return x * x; }
C
cp area.c area.cpp
printf '#include <flick.h>\nFLICK_NXP int area(int);\nint main(void) { return area(1); }\n' >marked.c
printf 'int area(int x) { return x; }\n' >again.c
cat >needs.c <<'C'
#include <flick.h>

int missing(int);
static int helper(int x) { return missing(x) + 1; }
FLICK_NXP int area(int x) { return helper(x) + missing(2); }
C
printf 'int missing(int x) { return x; }\n' >missing.c
cat >vector.cpp <<'C'
#include <flick.h>
#include <vector>

FLICK_NXP int main() {
  std::vector<int> v(3, 2);
  return v[1];
}
C
cat >twice.h <<'C'
#include <flick.h>

template <class T> FLICK_NXP T twice(T x);
C
printf '#include "twice.h"\ntemplate <class T> T twice(T x) { return 2 * x; }\n' >twice.cpp
printf '#include "twice.h"\nint main() { return twice(2); }\n' >usetwice.cpp
echo 'INPUT(area.o)' >libarea.ld
"$cc" -c call.c area.c needs.c missing.c
"$cxx" -c area.cpp -o area++.o
"$cxx" -c vector.cpp
ar rcs libneeds.a needs.o
objcopy --localize-hidden needs.o local.o
for linker in bfd lld; do
  ld=-fuse-ld=$linker
  note "'area' is undefined: area.cpp:3" "'area(int)'" 'call.o' 'extern "C"' -- "$cxx" $ld call.o area++.o -o prog
  note "'area(int)' is undefined: area.c:3" "C function 'area'" 'extern "C"' -- "$cxx" $ld call.cpp area.o -o prog
  note "'area' is undefined: marked.c:2: it is marked here" -- "$cc" $ld marked.c -o prog
  note "twice<int>(int)' is undefined: ./twice.h:3" 'instantiate the template' -- \
    "$cxx" $ld twice.cpp usetwice.cpp -o prog
  note 'the C++ library is missing: vector.o' 'help: link with flick-c++' -- "$cc" $ld vector.o -o prog
  note "'area' is defined twice: area.c:3" again.c 'keep one' -- "$cc" $ld area.c again.c call.c -o prog
  for input in needs.o libneeds.a; do
    note "'missing' is undefined: needs.c:5: 'area' needs it" "'__flick_twin_area'" -- "$cc" $ld call.o $input -o prog
  done
  note "'helper' is undefined: needs.c:5" "'area' uses it" 'objcopy' -- "$cc" $ld call.o local.o missing.o -o prog
  note 'that Flick has not seen: libarea.ld' 'on the command line' -- "$cc" $ld call.o libarea.ld -o prog
  # The linker's own text comes first, and clang's last line behind.
  "$cc" $ld call.o needs.o -o prog 2>err && die "it links"
  head -1 err | grep -q '^[^ ]*ld' || die "$(cat err)"
  tail -2 err | head -1 | grep -q '^help: ' || die "$(cat err)"
  tail -1 err | grep -q 'linker command failed with exit code 1' || die "$(cat err)"
  # No NxP code: clang's words, and nothing else.
  for input in call.o "call.o missing.o"; do
    ! "$cc" $ld $input -o prog 2>mine || die "it links"
    ! clang-19 $ld $input -o prog 2>clangs || die "it links"
    cmp mine clangs || die "$(cat mine)"
  done
done
# Whatever language the linker speaks.
LC_ALL=de_DE.UTF-8 LANGUAGE=de note "'missing' is undefined" -- "$cc" call.o needs.o -o prog
# The names of C++ in the errors of the NxP link.
cp area++.o more++.o
refuses FLK0305 'area(int)' 'area.cpp' 'inline' -- "$cxx" call.cpp area++.o more++.o -o prog

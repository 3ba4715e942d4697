# A fat object in a link without Flick: every common way fails, with a name that says what to do.
. "$FLICK_TEST_ERRORS/lib.sh"
two_objects
text=link_it_with_flick_cc
plain() {
  local got=0
  "$@" >out 2>err || got=$?
  [ $got != 0 ] || die "linked: $*"
  has err "$text" FLK0301
}
ar rcs libpart.a part.o
cp part.o stripped.o && strip --strip-unneeded stripped.o
ld -r part.o -o relinked.o
"$cc" -fPIC -c part.c -o pic.o
for compiler in gcc "clang-19 -fuse-ld=lld"; do
  for inputs in part.o libpart.a stripped.o relinked.o; do
    plain $compiler main.o $inputs -o plain
    plain $compiler main.o $inputs -no-pie -Wl,--gc-sections -o plain
    plain $compiler main.o $inputs -static -o plain
  done
  plain $compiler -shared pic.o -o libplain.so
done
plain ld -e main main.o part.o -o plain
plain ld.lld-19 -e main main.o part.o -o plain
# They are all good for a Flick link.
for inputs in part.o libpart.a stripped.o relinked.o; do
  status 0 "$cc" main.o $inputs -o prog
  FLICK_OFFLOAD=require status 0 ./prog
  has out 42
done

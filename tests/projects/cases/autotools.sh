# autoconf, automake and libtool: configure made here; static and shared libraries and modules by
# libtool, `make check`, install with relinking, `make distcheck`.
. "$FLICK_TEST_PROJECTS/lib.sh"
copy tally source
rm source/Makefile source/config.template
(cd source && autoreconf -i) 2>&1 | tail -n 3

build() { # DIR COMPILER
  mkdir "$1"
  (cd "$1" && ../source/configure CC="$2" --prefix=/opt/tally && make -j2 V=1 && make -j2 check)
}
build plain clang-19 >log 2>&1 || die "$(tail log)"
plain_tally plain/tally plain/.libs >want

# Without quotes: configure and libtool split CC at its spaces, and nothing else.
build out "flick-cc --flick-place=$here/source/tally.place"
# `tally` is libtool's wrapper, which runs .libs/tally (or lt-tally, linked again) in the build
# tree.
same want $(tally_functions '(lt-)?tally' 'libtally.so[.0-9]*') -- \
  out/tally "$projects/tally/sample.txt" out/.libs/length.so out/.libs/vowels.so
# The tools see through libtool: its script names the program, the program its library.
if flick place --explain out/tally 2>err; then die "a script is no program"; fi
grep -q 'FLK0304.*libtool' err && grep -q '\.libs/tally' err || die "$(cat err)"
flick place --explain out/.libs/tally >explained
grep -q 'libtally.so[.0-9]*' explained || die "the library is not named: $(cat explained)"
make -s -C out distcheck \
  DISTCHECK_CONFIGURE_FLAGS="CC='flick-cc --flick-place=$here/source/tally.place'" >log 2>&1 || die "$(tail log)"
make -C out install DESTDIR="$here/stage" 2>&1 | tee log
grep -q 'warning: relinking' log || die "libtool linked nothing again"
make -C out install-strip DESTDIR="$here/stripped" >/dev/null
mv out gone
for where in stage stripped; do
  mv $where elsewhere
  same want $(tally_functions tally 'libtally.so[.0-9]*') -- env LD_LIBRARY_PATH=$here/elsewhere/opt/tally/lib \
    elsewhere/opt/tally/bin/tally "$projects/tally/sample.txt" elsewhere/opt/tally/lib/tally/{length,vowels}.so
  # The static library that libtool installed is a fat one.
  echo 'int main(void) { extern const char *tally_version(void); return tally_version()[0] != 49; }' >use.c
  flick-cc use.c elsewhere/opt/tally/lib/libtally.a -o use && ./use
  if clang-19 use.c elsewhere/opt/tally/lib/libtally.a -o use 2>err; then die "linked without Flick"; fi
  grep -q FLK0301 err
  rm -rf elsewhere
done

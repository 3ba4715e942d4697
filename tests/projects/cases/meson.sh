# Meson with CC=flick-cc and with a native file: static, shared and module libraries, tests,
# install.
. "$FLICK_TEST_PROJECTS/lib.sh"
copy tally "the source"
CC=clang-19 meson setup plain "the source" >log
ninja -C plain >>log
plain_tally plain/tally plain >want

cat >flick.ini <<INI
[binaries]
c = ['flick-cc', '--flick-place=$here/the source/tally.place']
INI
for how in environment native; do
  case $how in
  environment)
    CC=flick-cc CFLAGS="--flick-place='$here/the source/tally.place'" \
      meson setup out "the source" --prefix=/usr --libdir=lib
    ;;
  native) meson setup out "the source" --native-file=flick.ini --prefix=/usr --libdir=lib --strip ;;
  esac
  meson compile -C out
  meson test -C out
  run_tally want out/tally out
  DESTDIR=$here/stage meson install -C out
  mv out gone
  mv stage elsewhere
  run_tally want elsewhere/usr/bin/tally elsewhere/usr/lib/tally
  rm -rf gone elsewhere
done

# The projects of world.sh. $SRC is the project's source, which no function may change. build_X
# works in an empty directory of its own, with the compilers $CC and $CXX and the options $CFLAGS.
# check_X runs the built programs there. Its output must not differ between two runs, because
# world.sh compares it with the output of the build by plain clang. $world is this directory's
# world/.
crates=(lua lua-c++ zlib bzip2 lz4 xz zstd oniguruma sqlite)
debian=(ninja pugixml)

crate_of() { # PROJECT
  case $1 in
    lua*) echo lua-src ;;
    zlib) echo libz-sys ;;
    xz) echo lzma-sys ;;
    oniguruma) echo onig_sys ;;
    sqlite) echo libsqlite3-sys ;;
    *) echo "$1-sys" ;;
  esac
}
package_of() { # PROJECT
  case $1 in
    ninja) echo ninja-build ;;
    *) echo "$1" ;;
  esac
}

# Each source to an object of its name in DIR.
objects() { # DIR OPTION... -- SOURCE...
  local dir=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  shift
  mkdir -p "$dir" && printf '%s\0' "$@" |
    (cd "$dir" && xargs -0 -n 1 ${COMPILE:-$CC} $CFLAGS "${options[@]}" -c)
}

build_lua() {
  local lua=$SRC/lua-5.5.1
  objects obj -DLUA_USE_LINUX "-I$lua" -- "$lua"/*.c "$world/lua.c" &&
    $CC $CFLAGS obj/*.o -Wl,-E -lm -ldl -o lua
}
check_lua() { ./lua "$world"/lua/*.lua; }

# Lua is compiled as C++, so that its errors are exceptions, and not longjmp.
build_lua-c++() { COMPILE="$CXX -x c++ -Wno-deprecated" CC=$CXX build_lua; }
check_lua-c++() { check_lua; }

build_zlib() {
  local zlib=$SRC/src/zlib
  objects obj -DHAVE_UNISTD_H "-I$zlib" -- "$zlib"/*.c "$world/zlib.c" && $CC $CFLAGS obj/*.o -o zlib
}
check_zlib() { ./zlib "$SRC/src/zlib/deflate.c"; }

build_bzip2() { cp -R "$SRC"/bzip2-*/. . && make CC="$CC" CFLAGS="$CFLAGS -D_FILE_OFFSET_BITS=64" bzip2 bzip2recover; }
check_bzip2() { make CC="$CC" CFLAGS="$CFLAGS" test | tail -n 20; }

build_lz4() { cp -R "$SRC"/liblz4/. . && make -C tests lz4 datagen frametest fuzzer decompress-partial; }
check_lz4() {
  make -s -C tests test-lz4-multiple test-lz4-skippable test-lz4-frame-concatenation >&2 && cd tests &&
    ./decompress-partial && ./fuzzer -i10 -s1 >&2 && ./frametest -i10 -s1 >&2
}

build_xz() {
  local xz=$SRC/xz-5.2 name
  local options=(-DHAVE_CONFIG_H "-I$SRC" "-I$xz/src/common" -pthread)
  for name in api lzma lz check simple delta common rangecoder; do options+=("-I$xz/src/liblzma/$name"); done
  objects obj "${options[@]}" -- $(find "$xz"/src/liblzma/{common,lzma,lz,check,delta,rangecoder,simple} -name '*.c' \
    ! -name 'crc*_small.c' ! -name '*tablegen.c') "$xz"/src/common/tuklib_{cpucores,physmem}.c || return 1
  objects tests "${options[@]}" -- "$xz"/tests/test_[!b]*.c "$xz"/tests/test_block_header.c "$xz"/doc/examples/*.c || return 1
  for name in tests/*.o; do $CC $CFLAGS "$name" obj/*.o -pthread -o "${name%.o}" || return 1; done
}
# test_bcj_exact_size is left out, because it needs a filter that the crate's configuration lacks.
check_xz() {
  local program file=$SRC/xz-5.2/src/liblzma/lzma/lzma_encoder.c level
  for program in tests/test_*.o; do "${program%.o}" && echo "$program: ok" || return 1; done
  for level in 0 1 4 6e; do
    tests/01_compress_easy $level <"$file" >work.xz && cksum work.xz && tests/02_decompress work.xz | cmp - "$file" || return 1
  done
  for program in 03_compress_custom 04_compress_easy_mt; do
    "tests/$program" <"$file" >work.xz && cksum work.xz && tests/02_decompress work.xz | cmp - "$file" || return 1
  done
  for file in "$SRC"/xz-5.2/tests/files/*.xz; do
    echo "$(basename "$file"): $(tests/02_decompress "$file" 2>/dev/null | cksum), ${PIPESTATUS[0]}"
  done
}

build_zstd() {
  local zstd=$SRC/zstd/lib
  # The options of the crate's build.
  objects obj -DZSTD_MULTITHREAD -DXXH_PRIVATE_API= -DZSTDLIB_VISIBILITY= -DZDICTLIB_VISIBILITY= \
    -DZSTDERRORLIB_VISIBILITY= -DZSTD_LIB_DEPRECATED=0 -ffunction-sections -fdata-sections "-I$zstd" -pthread -- \
    "$zstd"/{common,compress,decompress,dictBuilder}/*.c "$zstd"/decompress/*.S "$world/zstd.c" &&
    $CC $CFLAGS obj/*.o -pthread -o zstd
}
check_zstd() { ./zstd "$SRC/zstd/lib/compress/zstd_compress.c"; }

build_oniguruma() {
  local onig=$SRC/oniguruma name
  # The configuration of the crate's build.
  printf '#define %s\n' 'STDC_HEADERS 1' 'HAVE_STRING_H 1' 'HAVE_STDARG_H 1' 'HAVE_STDLIB_H 1' 'HAVE_LIMITS_H 1' \
    'HAVE_INTTYPES_H 1' 'HAVE_UNISTD_H 1' 'HAVE_SYS_TYPES_H 1' 'HAVE_SYS_TIME_H 1' 'HAVE_ALLOCA_H 1' \
    'SIZEOF_INT 4' 'SIZEOF_SHORT 2' 'SIZEOF_LONG 8' 'SIZEOF_VOIDP 8' 'SIZEOF_LONG_LONG 8' >config.h
  local options=(-DHAVE_CONFIG_H -I.. "-I$onig/src" -Wno-invalid-source-encoding)
  objects obj "${options[@]}" -- $(find "$onig/src" -name '*.c' ! -name 'mktable.c' ! -name 'unicode_egcb_data.c' \
    ! -name 'unicode_wb_data.c' ! -name 'unicode_property_data*.c' ! -name 'unicode_fold_data.c' ! -name 'regposix*.c') &&
    objects tests "${options[@]}" -- "$onig"/test/test_*.c "$onig"/test/test[cu].c || return 1
  for name in tests/*.o; do $CC $CFLAGS "$name" obj/*.o -o "${name%.o}" || return 1; done
}
check_oniguruma() {
  local name
  for name in tests/*.o; do "${name%.o}" || return 1; done
}

build_sqlite() {
  # The options of the crate's build.
  objects obj -DSQLITE_CORE -DSQLITE_DEFAULT_FOREIGN_KEYS=1 -DSQLITE_ENABLE_API_ARMOR -DSQLITE_ENABLE_COLUMN_METADATA \
    -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_FTS5 \
    -DSQLITE_ENABLE_JSON1 -DSQLITE_ENABLE_LOAD_EXTENSION=1 -DSQLITE_ENABLE_MEMORY_MANAGEMENT -DSQLITE_ENABLE_RTREE \
    -DSQLITE_ENABLE_STAT4 -DSQLITE_SOUNDEX -DSQLITE_THREADSAFE=1 -DSQLITE_USE_URI -DHAVE_USLEEP=1 -DHAVE_ISNAN \
    "-I$SRC/sqlite3" -- "$SRC/sqlite3/sqlite3.c" "$world/sqlite.c" && $CC $CFLAGS obj/*.o -pthread -ldl -lm -o sqlite
}
check_sqlite() { rm -f work.db* && ./sqlite "$world"/sqlite/*.sql; }

build_ninja() { cp -R "$SRC"/. . && ./configure.py && ninja -j1 ninja ninja_test; }
# The graph names its nodes by their addresses.
check_ninja() {
  ./ninja_test | tail -n 1 && ./ninja -t targets all && ./ninja -t graph | sed 's/"0x[0-9a-f]*"//g' &&
    ./ninja -t compdb >compdb && touch src/util.h && ./ninja -n && ./ninja -n -t clean
}

build_pugixml() { cp -R "$SRC"/. . && make CXX="$CXX" CXXFLAGS="$CFLAGS -std=c++11" BUILD=built; }
check_pugixml() { built/test; }

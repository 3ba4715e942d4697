# Builds and checks each project by its own build system, with the compiler in $CC, the options in
# $CFLAGS, and no other change. Scripts source this file. Every function runs in the project's
# directory.
projects=(zlib bzip2 lz4)

# Optimisation as the project itself chooses it.
default_cflags() { # PROJECT
  case $1 in
    bzip2) echo "-Wall -Winline -O2 -g -D_FILE_OFFSET_BITS=64" ;;
    *) echo "-O3" ;;
  esac
}

build_zlib() { ./configure --prefix=/usr && make -j2 && make -j2 infcover; }
# infcover drives inflate through every path, with its own checks of memory and results.
check_zlib() { make test && ./infcover; }
install_zlib() { make install DESTDIR="$1"; }

build_bzip2() { make -j2 CC="$CC" CFLAGS="$CFLAGS" libbz2.a bzip2 bzip2recover; }
check_bzip2() { make CC="$CC" CFLAGS="$CFLAGS" test; }
install_bzip2() { make CC="$CC" CFLAGS="$CFLAGS" install PREFIX="$1/usr"; }

# datagen and the other test programs are made by the check.
build_lz4() { make -j2; }
check_lz4() { make check; }
# The same, less the benchmark mode and the larger inputs.
quick_lz4() { make -C tests test-lz4-multiple test-lz4-frame-concatenation test-lz4-skippable; }
install_lz4() { make install DESTDIR="$1" PREFIX=/usr; }

# The input of the work below: 300 kB of C.
work_input() { # SOURCE-DIRECTORY...
  find "$@" -name '*.[ch]' | LC_ALL=C sort | xargs cat 2>/dev/null | head -c 300000
}

# A fixed piece of work with the project's tool. `$@` (valgrind, or nothing) stands before each
# command. The restored data must be the input. $INPUT is a text.
work_zlib() {
  "$@" ./minigzip <"$INPUT" >work.gz && "$@" ./minigzip -1 <"$INPUT" >work.fast.gz &&
    "$@" ./minigzip -d <work.gz | cmp - "$INPUT" && "$@" ./minigzip -d <work.fast.gz | cmp - "$INPUT"
}
work_bzip2() {
  "$@" ./bzip2 -2 <"$INPUT" >work.bz2 && "$@" ./bzip2 -d <work.bz2 | cmp - "$INPUT" &&
    "$@" ./bzip2 -ds <work.bz2 | cmp - "$INPUT"
}
work_lz4() {
  local level
  for level in 1 3 9 12; do
    "$@" ./lz4 -$level -c "$INPUT" >work.lz4 && "$@" ./lz4 -dc work.lz4 | cmp - "$INPUT" || return 1
  done
}

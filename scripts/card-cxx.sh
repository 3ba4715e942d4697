#!/bin/bash
# Builds libstdc++ for programs of the card, from Debian's source package of GCC (gcc-12-source), with
# Debian's bare-metal GCC: about a minute on two cores. Exit status 77: it cannot be had here.
#
#   card-cxx.sh DIR    makes DIR/include and DIR/libstdc++.a; what is there and current, it keeps
set -euo pipefail
. "$(dirname "$0")/lib.sh"
mkdir -p "$1"
target=$(cd "$1" && pwd)
library=$root/firmware/lib
triple=riscv64-unknown-elf
picolibc=/usr/lib/picolibc/$triple/include/release

sources=$(find /usr/src/gcc-12 -maxdepth 1 -name 'gcc-12.*.tar.xz' 2>/dev/null | sort -V | tail -n 1)
missing=()
[ -n "$sources" ] || missing+=(gcc-12-source)
command -v $triple-g++ >/dev/null || missing+=(gcc-$triple)
[ -d "$picolibc" ] || missing+=(picolibc-$triple)
if [ ${#missing[@]} -gt 0 ]; then
  echo "card: no C++ library: missing packages: ${missing[*]} (make deps)"
  exit 77
fi

made_of=$({ cat "$0" "$library"/cxx/* "$library"/include/*.h "$library"/include/*/*.h &&
  stat -c '%n %s' "$sources" && $triple-g++ --version; } | sha256sum)
[ "$(cat "$target/made-of" 2>/dev/null)" != "$made_of" ] || exit 0
rm -rf "$target" && mkdir -p "$target/work/libgcc" "$target/work/build"
cd "$target/work"

# Only what the library and its configure script read.
top='gcc-*'
tar -xf "$sources" --strip-components 1 --wildcards --exclude "$top/testsuite/[0-9a-z]*/*" \
  --exclude "$top/doc/*.xml" --exclude "$top/doc/html/*" \
  "$top/libstdc++-v3" "$top/libgcc/*.h" "$top/include/*.h" "$top/libiberty/*.[ch]" "$top/gcc/BASE-VER" \
  "$top/gcc/DATESTAMP" "$top"/{config.guess,config.sub,config-ml.in,install-sh,ltmain.sh,missing,mkinstalldirs}
cp "$library/cxx/gthr-default.h" libgcc/
cp "$library/cxx/os_defines.h" libstdc++-v3/config/os/newlib/
# Debian's compiler was built without threads. The library has them nevertheless.
sed -i 's/^  target_thread_file=.*/  target_thread_file=posix/' libstdc++-v3/configure

# What configure could learn only by links, or would take for present since a header declares it.
answers=(ac_cv_func_{fcntl=yes,getexecname=no})
# A machine repeats its runs: `random_device` is a generator of fixed numbers.
answers+=(glibcxx_cv_{arc4random,getentropy}=no)
answers+=(glibcxx_cv_{dirfd,fchmod,fchmodat,fdopendir,link,openat,readlink,symlink,truncate,unlinkat}=no)
flags="-O2 -march=rv64gc -mabi=lp64d -mcmodel=medany -ftls-model=local-exec -fno-omit-frame-pointer"
flags+=" -ffunction-sections -fdata-sections -D_GNU_SOURCE"
cd build
quiet() {
  "$@" >>log 2>&1 && return
  grep -m 5 -E 'error|\*\*\*' log
  echo "card: no C++ library: $1 failed: $PWD/log"
  exit 77
}
quiet ../libstdc++-v3/configure --build="$(uname -m)-linux-gnu" --host=$triple --with-newlib \
  --with-gxx-include-dir="$target/include" --disable-multilib --disable-shared --disable-nls \
  --disable-libstdcxx-pch --disable-libstdcxx-dual-abi --disable-libstdcxx-filesystem-ts \
  CC=$triple-gcc CXX=$triple-g++ AR=llvm-ar-19 RANLIB=llvm-ranlib-19 "${answers[@]}" \
  CPPFLAGS="-isystem $library/include -isystem $picolibc" CFLAGS="$flags" CXXFLAGS="$flags"
quiet make -C include -j"$(nproc)" all install
quiet make -C libsupc++ -j"$(nproc)" all install-data
quiet make -C src -j"$(nproc)" all
install -m 644 src/.libs/libstdc++.a "$target"
rm -rf "$target/work"
echo "$made_of" >"$target/made-of"

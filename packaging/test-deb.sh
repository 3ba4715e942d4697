#!/bin/bash
# Installs the package on a fresh Debian, builds and runs programs with what the package's own
# dependencies brought, and removes it. Exit status 77, and the reason, where this machine cannot.
#
#   test-deb.sh DEB [PRISTINE]    PRISTINE: a minbase tree that is kept between runs
#   FLICK_DEB_MIRROR              where packages come from (http://deb.debian.org/debian)
set -euo pipefail
deb=$(realpath "${1:?usage: test-deb.sh DEB [PRISTINE]}")
mirror=${FLICK_DEB_MIRROR:-http://deb.debian.org/debian}
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "a chroot needs root"
command -v debootstrap >/dev/null || skip "there is no debootstrap"
work=$(mktemp -d)
cleanup() {
  umount "$work/root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT
pristine=${2:-$work/pristine}
if [ ! -e "$pristine/etc/debian_version" ]; then
  debootstrap --variant=minbase --include=ca-certificates bookworm "$pristine" "$mirror" >"$work/log" 2>&1 || {
    tail -n 3 "$work/log"
    skip "no packages from $mirror"
  }
fi
cp -a --reflink=auto "$pristine" "$work/root"
root=$work/root
cp /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
mount -t proc proc "$root/proc" || skip "proc cannot be mounted"
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }

passed=0 failed=0
check() { # NAME COMMAND...
  local name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok   $name"
  else
    failed=$((failed + 1))
    echo "FAIL $name"
    tail -n 30 "$work/log" | sed 's/^/     /'
  fi
}

cp "$deb" "$root/tmp/flick.deb"
in_root sh -c 'find / -xdev -not -path "/proc/*" -name "*flick*"' | grep -v '^/tmp/flick.deb$' >"$work/before" || true
in_root apt-get -q update >"$work/log" 2>&1 || { tail -n 3 "$work/log"; skip "apt-get update failed"; }
check "it installs with its dependencies" in_root apt-get -qy install --no-install-recommends /tmp/flick.deb
check "no file differs from the package" in_root dpkg --verify flick

cat >"$root/tmp/hello.c" <<'END'
#include <flick.h>
#include <stdio.h>
FLICK_NXP void hello(const char *name) { printf("hello, %s\n", name); }
int main(void) { hello("world"); }
END
cat >"$root/tmp/sum.cpp" <<'END'
#include <cstdio>
#include <flick.h>
#include <vector>
FLICK_NXP long sum(const std::vector<long> &v) {
  long s = 0;
  for (long x : v) s += x;
  return s;
}
int main() { std::printf("%ld\n", sum({1, 2, 3})); }
END
prints() { # TEXT COMMAND...
  local want=$1 got
  shift
  got=$(in_root "$@") || return 1
  echo "$got"
  [ "$got" = "$want" ]
}
mentions() { # TEXT COMMAND...
  local want=$1
  shift
  in_root "$@" | tee /dev/stderr | grep -F -- "$want" >/dev/null
}
check "flick-cc compiles" in_root flick-cc -O2 /tmp/hello.c -o /tmp/hello
check "the program crosses" prints "hello, world" env FLICK_OFFLOAD=require /tmp/hello
check "flick-cc links statically" in_root flick-cc -static /tmp/hello.c -o /tmp/hello-static
check "the static program crosses" prints "hello, world" env FLICK_OFFLOAD=require /tmp/hello-static
check "flick-c++ compiles" in_root flick-c++ -O1 /tmp/sum.cpp -o /tmp/sum
check "the C++ program crosses" prints 6 env FLICK_OFFLOAD=require /tmp/sum
check "flick stat" in_root flick stat -o /tmp/report /tmp/hello
check "flick doctor" in_root flick doctor
check "flick config finds everything" in_root sh -c 'flick config | grep -F "found beside this command" && ! flick config | grep -F "lib/flick/" | grep missing'
check "man page" in_root sh -c 'zcat /usr/share/man/man1/flick-cc.1.gz | grep "flick.-place"'
check "copyright and changelog" in_root sh -c 'test -s /usr/share/doc/flick/copyright && zcat /usr/share/doc/flick/changelog.gz | grep -q "^flick ("'
check "the version is the command's" in_root sh -c '[ "flick $(dpkg-query -W -f "\${Version}" flick)" = "$(flick --version)" ]'

rm -f "$root"/tmp/{hello,hello-static,sum,report}
check "it is removed" in_root apt-get -qy purge flick
nothing_left() {
  in_root sh -c 'find / -xdev -not -path "/proc/*" -name "*flick*"' | grep -v -e '^/tmp/flick.deb$' -e '^/var/log/' >"$work/after" || true
  diff "$work/before" "$work/after"
}
check "nothing of it is left" nothing_left
echo "$passed passed, $failed failed"
[ $failed = 0 ]

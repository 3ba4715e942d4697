#!/bin/bash
# `flick run --extensions` on a Linux whose CPUs differ: Debian's kernel for riscv64 on a machine with five
# harts of three kinds (unequal.toml). It is no part of `make test`, since it fetches that kernel
# (scripts/linux.sh).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
work=$build/test/extensions
linux=${FLICK_LINUX:-$build/linux}
program=$build/lib/flick/riscv64/flick
passed=0 failed=0
verdict() { # STATUS NAME
  if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED: $2"; fi
}

[ -e "$program" ] || skip_tests "no $program (make says why)"
rm -rf "$work" && mkdir -p "$work"
"$root/scripts/linux.sh" --prepare >"$work/prepare.log" 2>&1 || skip_tests "no Linux ($work/prepare.log)"

cp -a "$linux/initrd" "$work/initrd" && mkdir "$work/initrd/lib"
libraries=/usr/riscv64-linux-gnu/lib
cp -L $libraries/{ld-linux-riscv64-lp64d.so.1,libc.so.6} "$work/initrd/lib"
cp "$program" "$work/initrd/bin"
for link in static dynamic; do
  options=(--target=riscv64-linux-gnu -march=rv64gc -g -O2 -Wall -Wextra -Werror -fuse-ld=lld -pthread)
  [ $link = dynamic ] || options+=(-static)
  clang-19 "${options[@]}" -o "$work/initrd/bin/$link" "$here/unequal_cpus.c" &&
    clang-19 "${options[@]}" -o "$work/initrd/bin/watched-$link" "$root/crates/extensions/tests/watched.c"
  verdict $? "programs are compiled, $link"
done
cat >"$work/initrd/init" <<'END'
#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
run() { # NAME COMMAND...
  name=$1
  shift
  "$@" >/tmp/out 2>/tmp/err
  echo "status $?" >>/tmp/out
  sed "s/^/$name out: /" /tmp/out
  sed "s/^/$name err: /" /tmp/err
}
run list flick run --extensions --list
run static flick run --extensions --stat static
run dynamic flick run --extensions --stat dynamic
printf '[[cpus]]\nlist = "1"\nopcodes = ["custom-1"]\n' >/cpus.toml
run described-list flick run --extensions --cpus /cpus.toml --list
run described flick run --extensions --stat --cpus /cpus.toml static
run plain watched-static
run watched flick run --extensions watched-static
run watched-dynamic flick run --extensions watched-dynamic
run thrashing flick run --extensions --stat --hold 20ms static thrashing
run without static thrashing
echo "test: the end"
poweroff -f
END
(cd "$work/initrd" && find . | sort | cpio --quiet -o -H newc) >"$work/initrd.cpio"
timeout 300 "$flick" machine run --machine "$here/unequal.toml" --firmware "$linux/fw_dynamic.bin" \
  --kernel "$linux/Image" --initrd "$work/initrd.cpio" --append "console=ttyS0 panic=-1 loglevel=3" --no-restart \
  </dev/null 2>&1 | tr -d '\r' >"$work/log"
grep -q '^test: the end' "$work/log"
verdict $? "Linux comes to the end ($work/log)"
said() { sed -n "s/^$1 $2: //p" "$work/log"; }

diff - <(said list out | grep -v '^all') <<'END'
CPUs 0-1: nothing of its own
CPUs 2-3: zba zbb zbs zicond
CPUs 4: v xflickdot zve32f zve32x zve64d zve64f zve64x zvl128b
status 0
END
verdict $? "what the CPUs have"
for link in static dynamic; do
  diff "$here/unequal_cpus.expected" <(said $link out)
  verdict $? "a program that is linked $link"
  said $link err | grep -q '^unequal_cpus.c:[0-9]*: zba  *[0-9]*  CPUs 2-3$'
  verdict $? "$link: its lines are named"
  said $link err | grep -q 'FLK0511.*: v has registers that Linux saves; it is on CPUs 4, and Linux turns it on only'
  verdict $? "$link: vectors are refused with the reason"
  said $link err | grep -q 'SIGILL: zba is on CPUs 2-3, which the thread.s affinity mask leaves out'
  verdict $? "$link: a mask of the program's is kept"
done
said described-list out | grep -q '^CPUs 1: custom-1$'
verdict $? "a description adds to what Linux says"
diff "$here/unequal_cpus.expected" <(said described out)
verdict $? "a program with a description"
said described err | grep -q 'SIGILL: CPUs 1 are said to have custom-1, and do not execute it'
verdict $? "a wrong description is found out"
for name in watched watched-dynamic; do
  diff <(said plain out) <(said $name out | sed 's/held 1$/held 0/')
  verdict $? "a program sees itself as without: $name"
done
said without out | grep -q '^status 132$'
verdict $? "without flick run it ends by SIGILL"
# A thread that is moved away every millisecond is held, longer and longer.
diff <(echo "rounds 300, failures 0" && echo "status 0") <(said thrashing out)
verdict $? "thrashing comes to its end"
moves=$(said thrashing err | sed -n 's/^\([0-9]*\) moves.*/\1/p')
[ "${moves:-999}" -le 30 ]
verdict $? "300 rounds make few moves (${moves:-none})"
echo "$passed passed, $failed failed"
[ $failed = 0 ]

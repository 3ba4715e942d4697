#!/bin/bash
# Boots an unmodified Debian for riscv64 on the machine `virt`: OpenSBI, Linux with four harts, an
# initial RAM disk with busybox, and a disk with ext4. A script in it uses threads of processes, pipes
# and files, and powers the machine off. Where there is qemu-system-riscv64, it must print the same.
#
#   scripts/linux.sh [--interactive] [OPTION OF flick machine run...]
#   scripts/linux.sh --prepare
#
# With --interactive the boot ends in a shell. With --prepare there is no boot: the kernel (Image), the
# firmware (fw_dynamic.bin) and the tree of the RAM disk (initrd) are made, for other scripts.
#
# Packages come from Debian's suite $FLICK_SUITE (sid), by an apt configuration of their own, and stay in
# $FLICK_LINUX (build/linux). The script needs no root.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

dir=${FLICK_LINUX:-$build/linux}
suite=${FLICK_SUITE:-sid}
mirror=${FLICK_MIRROR:-http://deb.debian.org/debian}
append="console=ttyS0 panic=-1"
if [ "${1:-}" = --interactive ]; then
  append+=" interactive"
  shift
fi

prepares=
[ "${1:-}" != --prepare ] || prepares=yes

fail() {
  echo "linux.sh: $*" >&2
  exit 3
}
for tool in apt-get dpkg-deb cpio xz mke2fs; do
  command -v "$tool" >/dev/null || fail "there is no $tool; install the package that has it (apt-get, cpio, xz-utils, e2fsprogs)"
done

mkdir -p "$dir"/{lists/partial,cache/archives/partial,packages,root}
dir=$(cd "$dir" && pwd)

apt() {
  local tool=$1
  shift
  "$tool" -q -o "Dir::State=$dir" -o "Dir::State::lists=$dir/lists" -o "Dir::State::status=$dir/status" \
    -o "Dir::Cache=$dir/cache" -o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=- \
    -o APT::Architecture=riscv64 -o APT::Architectures=riscv64 -o Acquire::Retries=3 \
    -o Acquire::Check-Valid-Until=false -o "APT::Sandbox::User=$(id -un)" "$@"
}

depends() { apt apt-cache depends "$1" | sed -En 's/^ *(Pre)?Depends: ([^<].*)/\2/p'; }

# The kernel's packages: the image, and those with its binary and its modules.
kernel_packages() {
  local image
  image=$(depends linux-image-riscv64 | grep -m 1 '^linux-image-') || return 1
  echo "$image"
  depends "$image" | grep -E '^linux-(binary|modules)-' || true
}

if [ ! -f "$dir/complete" ]; then
  say "Packages of Debian $suite for riscv64"
  : >"$dir/status"
  echo "deb $mirror $suite main" >"$dir/sources.list"
  for try in 1 2 3; do
    apt apt-get update >"$dir/update.log" 2>&1 && break
    [ "$try" != 3 ] || fail "apt cannot read the suite $suite of $mirror ($dir/update.log); the mirror may be" \
      "in renewal: try again later, or name another one by FLICK_MIRROR"
    sleep $((20 * try))
  done
  packages=$(kernel_packages) || fail "$suite has no linux-image-riscv64"
  # shellcheck disable=SC2086
  (cd "$dir/packages" && apt apt-get download $packages busybox-static opensbi >"$dir/download.log" 2>&1) ||
    fail "apt cannot fetch $packages busybox-static opensbi ($dir/download.log)"
  for package in "$dir"/packages/*.deb; do
    dpkg-deb -x "$package" "$dir/root"
  done
  touch "$dir/complete"
fi

say "Kernel, initial RAM disk and disk"
kernel=$(find "$dir/root" -name 'vmlinu*' -type f | sort -V | tail -n 1)
[ -n "$kernel" ] || fail "the kernel's packages have no vmlinuz"
word() { od -An -tu4 -j "$2" -N 4 "$1" | tr -d ' '; }
# An EFI image may have the kernel's own image inside (Linux, drivers/firmware/efi/libstub/zboot-header.S):
# its place, size and compression are in the header.
if [ "$(head -c 8 "$kernel" | tail -c 4 | tr -cd a-z)" = zimg ]; then
  tail -c +$(($(word "$kernel" 8) + 1)) "$kernel" | head -c "$(word "$kernel" 12)" >"$dir/Image.packed"
  case $(tail -c +25 "$kernel" | head -c 8 | tr -cd a-z0-9) in
    gzip) gzip -dc <"$dir/Image.packed" >"$dir/Image" ;;
    xz*) xz -dc <"$dir/Image.packed" >"$dir/Image" ;;
    zstd*) zstd -dc <"$dir/Image.packed" >"$dir/Image" ;;
    *) fail "the image in $kernel has an unknown compression" ;;
  esac
else
  cp "$kernel" "$dir/Image"
fi
firmware=$(find "$dir/root" -path '*riscv64*generic*' -name fw_dynamic.bin | head -n 1)
[ -n "$firmware" ] || fail "the package opensbi has no fw_dynamic.bin"
cp "$firmware" "$dir/fw_dynamic.bin"
firmware=$dir/fw_dynamic.bin

initrd=$dir/initrd
rm -rf "$initrd"
mkdir -p "$initrd"/{bin,dev,proc,sys,tmp,mnt,mod}
cp "$(find "$dir/root" -path '*/bin/busybox' -type f | head -n 1)" "$initrd/bin/busybox"
for name in sh mount umount insmod ls cat echo uname poweroff sleep wc sort seq grep sed dd sync mkdir nproc md5sum; do
  ln -s busybox "$initrd/bin/$name"
done
modules="virtio_mmio virtio_blk crc16 mbcache jbd2 crc32c-cryptoapi ext4"
for name in $modules; do
  find "$dir/root" -name "$name.ko*" | head -n 1 | while read -r module; do
    case $module in
      *.xz) xz -dc "$module" >"$initrd/mod/$name.ko" ;;
      *) cp "$module" "$initrd/mod/$name.ko" ;;
    esac
  done
done
cat >"$initrd/init" <<'END'
#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
for m in virtio_mmio virtio_blk crc16 mbcache jbd2 crc32c-cryptoapi ext4; do
  [ ! -f /mod/$m.ko ] || insmod /mod/$m.ko
done
echo "linux: shell on $(uname -sm) with $(nproc) harts"
mount -t ext4 /dev/vda /mnt && echo "linux: ext4 has $(cat /mnt/hello)"
for n in 1 2 3 4; do (seq 1 2000 | sort -rn | wc -l | sed "s/^/linux: job $n sorted /" >/tmp/$n) & done
wait
cat /tmp/1 /tmp/2 /tmp/3 /tmp/4
dd if=/dev/zero bs=1024 count=512 2>/dev/null | md5sum | sed 's/^/linux: pipe /'
seq 1 10000 >/mnt/written && sync && echo "linux: written $(wc -c </mnt/written) bytes"
case "$(cat /proc/cmdline)" in *interactive*) exec sh ;; esac
umount /mnt
echo "linux: power-off"
poweroff -f
END
chmod +x "$initrd/init"
[ -z "$prepares" ] || exit 0
(cd "$initrd" && find . | sort | cpio --quiet -o -H newc) >"$dir/initrd.cpio"
mkdir -p "$dir/disk"
echo "a file" >"$dir/disk/hello"
rm -f "$dir/disk.img"
mke2fs -q -F -t ext4 -d "$dir/disk" "$dir/disk.img" 32M

run=("$flick" machine run --set harts=4 --set memory=512M --firmware "$firmware" --kernel "$dir/Image"
  --initrd "$dir/initrd.cpio" --append "$append" --disk "$dir/disk.img" "$@")
printf '   '
printf ' %q' "${run[@]}"
echo
case $append in *interactive*) exec "${run[@]}" ;; esac

# What the script in it says, without the kernel's messages and their times.
said() { tr -d '\r' | sed -n 's/^\(.*\] \)\?\(linux: .*\)/\2/p'; }
SECONDS=0
"${run[@]}" --no-restart </dev/null >"$dir/flick.log"
said <"$dir/flick.log" | sed 's/^/    /'
say "The machine has powered off after $SECONDS s ($dir/flick.log)"
said <"$dir/flick.log" | grep -q '^linux: power-off' || fail "the script did not come to its end"
if command -v qemu-system-riscv64 >/dev/null; then
  cp "$dir/disk.img" "$dir/qemu.img"
  SECONDS=0
  timeout 600 qemu-system-riscv64 -M virt -smp 4 -m 512M -nographic -bios "$firmware" -kernel "$dir/Image" \
    -initrd "$dir/initrd.cpio" -append "$append" -drive "file=$dir/qemu.img,if=none,format=raw,id=disk" \
    -device virtio-blk-device,drive=disk </dev/null >"$dir/qemu.log"
  say "QEMU took $SECONDS s ($dir/qemu.log)"
  diff <(said <"$dir/flick.log") <(said <"$dir/qemu.log") || fail "QEMU's virt prints something else (above: < here, > there)"
  say "QEMU's virt prints the same"
fi

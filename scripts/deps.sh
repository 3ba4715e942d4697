#!/bin/bash
# Installs the missing Debian packages. This is the only list of the packages that building and
# testing need beside git, make, gcc and a Rust toolchain. If no package is missing, it installs
# none.
set -eu

packages=(
  # build: compiler, both linkers, the compiler's library for the pass and what builds the pass
  clang-19 lld-19 llvm-19 llvm-19-dev g++ gcc libc6-dev binutils cmake make
  # cargo fetches over https
  ca-certificates
  # checks and tests: sanitizers, formatting, lit and FileCheck, a second RISC-V, what the kernel and the ELF tools see
  libclang-rt-19-dev clang-format-19 llvm-19-tools qemu-user valgrind libc6-dbg strace file gdb gdb-multiarch mandoc
  # the machine's tests, and scripts/linux.sh: QEMU's machine, RAM disks
  qemu-system-misc opensbi cpio
  # programs of the card: their C library, and what their C++ library is built from (make strangers: GCC's own tests)
  picolibc-riscv64-unknown-elf gcc-riscv64-unknown-elf gcc-12-source
  # tests/prose: the words of the pages
  python3-proselint
  # make deb
  dpkg-dev
  # tests/projects: the build systems that flick-cc must fit into unchanged, and a compiler cache
  meson ninja-build autoconf automake libtool pkg-config ccache python3
  # tests/timing: OpenMP
  libomp-19-dev
  # flick torture: programs of another generator
  csmith libcsmith-dev
  # bench/real.sh: the same programs for qemu-riscv64
  libc6-dev-riscv64-cross libgcc-12-dev-riscv64-cross
  # tests/real: unpacking source packages
  bzip2 xz-utils
)

missing=()
if command -v dpkg-query >/dev/null; then
  for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -m1 -x installed || true)
    [ -n "$status" ] || missing+=("$package")
  done
else
  for tool in clang-19 ld.lld-19 llvm-objdump-19 llvm-config-19 g++ ld clang-format-19 FileCheck-19 qemu-riscv64 valgrind strace file gdb-multiarch qemu-system-riscv64 cpio \
    make cmake meson ninja autoconf automake libtoolize pkg-config ccache python3 proselint csmith bzip2 xz; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    echo "deps: this is no Debian; please install: ${missing[*]}" >&2
    exit 1
  fi
fi

if ! "${CARGO:-cargo}" --version >/dev/null 2>&1; then
  echo "deps: no Rust toolchain (cargo); https://rustup.rs has one" >&2
  exit 1
fi
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "deps: missing: ${missing[*]}" >&2
    echo "deps: there is no sudo; as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
  [ -z "${CI:-}" ] || as_root=(sudo -n)
fi
as_root+=(env DEBIAN_FRONTEND=noninteractive)

echo "==> Installing ${missing[*]}"
apt=(apt-get -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
"${as_root[@]}" "${apt[@]}" update
"${as_root[@]}" "${apt[@]}" install --no-install-recommends "${missing[@]}"

# Helpers of the scripts here, which source this file behind scripts/lib.sh: what the tests need, their
# results, and programs without a C library.
card=$build/lib/flick/card
# What units of tiles promise is looked at in all runs.
export FLICK_CHECK=units
passed=0 failed=0 skipped=0

# Ends the script if a part of the card was not built.
need() { # PART...
  for part; do
    [ -e "$card/$part" ] || skip_tests "no $part (make says why)"
  done
}

# Without what it needs, a test is skipped, which is a failure in CI.
skip() { # NAME REASON
  echo "$1: skipped: $2"
  if [ -z "${CI:-}" ]; then skipped=$((skipped + 1)); else failed=$((failed + 1)); fi
}
has_cxx() { # NAME
  [ -e "$card/c++/libstdc++.a" ] && return
  skip "$1" "no C++ library (make says why)"
  return 1
}
has_qemu() { # NAME
  command -v qemu-system-riscv64 >/dev/null && return
  skip "$1 on QEMU" "no qemu-system-riscv64 (make deps)"
  return 1
}

verdict() { # STATUS NAME
  if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED: $2"; fi
}

# What the kernel says of processes that fail is no part of the output that is expected.
of_program() { grep -av '^kernel: *\(process\|called\|its stack\|memory is used up\)' || true; }

# A kernel for QEMU, which wants one to take an initial RAM disk.
no_kernel() { printf '\x6f\0\0\0' >no-kernel.bin; }

# The last line of a script: its exit status is 0 if nothing has failed.
conclude() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ $failed = 0 ]
}

# Builds a bare program, and its archive NAME.tar, in the current directory.
build_bare() { # NAME SOURCE
  clang-19 --target=riscv64-unknown-elf -march=rv64gc -mabi=lp64d -mcmodel=medany -O2 -Wall -Wextra -Werror \
    -nostdlib -static -ffreestanding -fuse-ld=lld -Wl,-z,separate-code -o "$1" "$2" &&
    tar --format=ustar -cf "$1.tar" "$1"
  verdict $? "$1 is compiled"
}

# Builds a program of a root without a kernel (examples/accelerator/root.h), in the current directory.
build_root() { # SOURCE NAME OPTION...
  clang-19 --target=riscv64-unknown-elf -march=rv64gc -mabi=lp64d -mcmodel=medany -O2 -Wall -Wextra -Werror \
    -nostdlib -static -ffreestanding -fuse-ld=lld -Wl,--image-base=0x80000000 -I"$build/obj/include" \
    -I"$root/examples/accelerator" -o "$2" "$1" "${@:3}"
}

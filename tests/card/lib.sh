# Helpers of the scripts here, which source this file behind scripts/lib.sh: what the tests need, their
# results, and programs without a C library.
card=$build/lib/flick/card
passed=0 failed=0

# Ends the script if a part of the card was not built.
need() { # PART...
  for part; do
    [ -e "$card/$part" ] && continue
    echo "card: skipped: no $part (make says why)"
    [ -z "${CI:-}" ] && echo "0 passed, 0 failed, 1 skipped" && exit 0
    echo "0 passed, 1 failed" && exit 1
  done
}

# Says that a C++ program is skipped if the library of C++ was not built.
has_cxx() { # NAME
  [ -e "$card/c++/libstdc++.a" ] || [ -n "${CI:-}" ] && return
  echo "$1: skipped: no C++ library (make says why)"
  return 1
}

verdict() { # STATUS NAME
  if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED: $2"; fi
}

# The last line of a script: its exit status is 0 if nothing has failed.
conclude() {
  echo "$passed passed, $failed failed"
  [ $failed = 0 ]
}

# Builds a bare program, and its archive NAME.tar, in the current directory.
build_bare() { # NAME SOURCE
  clang-19 --target=riscv64-unknown-elf -march=rv64gc -mabi=lp64d -mcmodel=medany -O2 -Wall -Wextra -Werror \
    -nostdlib -static -ffreestanding -fuse-ld=lld -Wl,-z,separate-code -o "$1" "$2" &&
    tar --format=ustar -cf "$1.tar" "$1"
  verdict $? "$1 is compiled"
}

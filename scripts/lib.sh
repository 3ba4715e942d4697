# Paths and messages for the other scripts, which source this file.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
flick=$build/bin/flick
flick_cc=$build/bin/flick-cc
flick_cxx=$build/bin/flick-c++

# A `make` that a script runs is no part of the one that runs the script.
unset MAKEFLAGS MFLAGS MAKELEVEL
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}

# Ends a script of tests that cannot run here, which is a failure in CI.
skip_tests() { # REASON
  echo "skipped: $*"
  [ -z "${CI:-}" ] && echo "0 passed, 0 failed, 1 skipped" && exit 0
  echo "0 passed, 1 failed" && exit 1
}

# Counts the outcome of a test in `passed` or `failed`, and says it. A failure shows the file that
# `result_log` names; none if that is empty.
result_log=log
result() { # NAME STATUS
  if [ "$2" = 0 ]; then
    passed=$((passed + 1))
    echo "ok   $1"
  else
    failed=$((failed + 1))
    echo "FAIL $1"
    [ -z "$result_log" ] || sed 's/^/     /' "$result_log"
  fi
}

say() { printf '\033[1m==> %s\033[0m\n' "$*"; }

# Makes apt's package lists, if there are none and the user may do so. Otherwise it prints nothing.
ensure_apt_lists() {
  command -v apt-cache >/dev/null || return 1
  [ -z "$(apt-cache dumpavail | head -n 1)" ] || return 0
  say "apt has no package list yet: apt-get update"
  if [ "$(id -u)" = 0 ]; then
    apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 update
  elif command -v sudo >/dev/null; then
    sudo ${CI:+-n} apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 update
  fi || return 1
}

#!/bin/bash
# Runs all checks and tests. It needs a built tree (`make test` makes it). The last line is
# `N passed, N failed, N skipped`, and the exit status is 1 if a check failed. Logs are in build/test/.
#
#   test.sh [--check | --full]   --check: the short ones, for the inner loop (`make check`)
#                                --full: every link mode with every other, instead of every pair
set -uo pipefail
. "$(dirname "$0")/lib.sh"
cd "$root"
cargo=${CARGO:-cargo}
logs=$build/test/logs
mkdir -p "$logs"
passed=0 failed=0 skipped=0 broken=()
matrix=--pairwise kind=test
case ${1:-} in
--check) kind=check ;;
--full) matrix=--full ;;
esac
began=$SECONDS

# Processor time of a command that has ended, in seconds. The argument is the output of `times`, which
# counts for the shell that calls it: each command has one of its own, because a shell that runs checks
# also counts those that run at once with them.
cpu_seconds() { awk -F '[ ms]+' 'NR == 2 { printf "%d", 60 * ($1 + $3) + $2 + $4 }' "$1"; }

# Runs a check, shows it while it runs, and counts it. The lines of cargo's tests
# (`test result: ok. 5 passed; 0 failed; …`) and of Flick's (`5 passed, 0 failed, 1 skipped`) have the count. A
# check without such a line counts as one.
check() { # NAME COMMAND...
  local name=$1 log status good=0 bad=0 left=0
  shift
  log=$logs/$(tr -cs 'a-z0-9\n' - <<<"${name,,}").log
  say "$name"
  local start=$SECONDS cpu times=$logs/times.$BASHPID
  (
    "$@"
    status=$?
    times >"$times"
    exit $status
  ) 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  read -r good bad left < <(awk '
    /^test result: / { good += $4; bad += $6 }
    /^[0-9]+ passed, [0-9]+ failed/ { good += $1; bad += $3 }
    /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped/ { left += $5 }
    END { print good + 0, bad + 0, left + 0 }' "$log")
  # A failure without a count counts as one, and so does a success.
  if [ $status != 0 ] && [ "$bad" = 0 ]; then bad=1; fi
  if [ $status = 0 ] && [ "$good$bad$left" = 000 ]; then good=1; fi
  passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + left))
  if [ "$bad" != 0 ]; then broken+=("$name ($log)"); fi
  cpu=$(cpu_seconds "$times")
  rm "$times"
  echo "    $name: $good passed, $bad failed, $left skipped, $((SECONDS - start)) s, $cpu s of processor time"
}

# Runs two functions with checks at once, since most of these keep one core busy. What the second one
# prints comes behind the first. A check that changes the built tree must not be among them.
at_once() { # FUNCTION FUNCTION
  (
    passed=0 failed=0 skipped=0 broken=()
    "$2"
    printf '%s\n' "$passed" "$failed" "$skipped" "${broken[@]}" >"$logs/at-once.counts"
  ) >"$logs/at-once.log" 2>&1 </dev/null &
  local other=$! counts=()
  rm -f "$logs/at-once.counts"
  trap 'kill $other 2>/dev/null' EXIT
  "$1"
  wait $other
  trap - EXIT
  cat "$logs/at-once.log"
  mapfile -t counts <"$logs/at-once.counts"
  passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
  broken+=("${counts[@]:3}")
}

# The units of tests/pass are left out: their expectations are long comments beside the code.
c_sources() {
  find include nxp pass examples bench crates firmware tests \( -name '*.[ch]' -o -name '*.cpp' \) \
    ! -path 'tests/pass/*' ! -path '*/target/*' -print0
}
format_c() { c_sources | xargs -0 clang-format-19 --dry-run -Werror; }
format_sh() { local script; for script in {bench,packaging,scripts,tests/*}/*.sh .ci/run; do bash -n "$script" || return 1; done; }
examples_plain() {
  local compiler
  for compiler in gcc clang-19; do
    make -s -B -C examples CC=$compiler CFLAGS='-O2 -Werror' OUT="$build/test/examples-$compiler" || return 1
  done
}
examples_flick() {
  local program want="$build/test/examples-clang-19" have="$build/test/examples-flick"
  make -s -B -C examples CC="$flick_cc" CFLAGS='-O2 -Werror' OUT="$have" || return 1
  for program in hello callbacks pointer-chase "bfs -n 3 -u examples/data/debian-sample.txt"; do
    for trigger in gate fault; do
      diff <($want/$program) <(FLICK_OFFLOAD=require FLICK_TRIGGER=$trigger $have/$program) || return 1
      echo "same output: $program ($trigger)"
    done
  done
}
installed() {
  local prefix="$build/test/prefix"
  rm -rf "$prefix"
  make -s install PREFIX=/opt/flick DESTDIR="$prefix" || return 1
  (cd / && env -u FLICK_ROOT "$prefix/opt/flick/bin/flick-cc" "$root/examples/hello/hello.c" -o "$prefix/hello") &&
    [ "$(cd / && env -i FLICK_OFFLOAD=require "$prefix/hello")" = "hello, world" ]
}
fresh_system() {
  local status=0
  packaging/test-deb.sh "$(packaging/deb.sh "$build" "$build/deb")" || status=$?
  [ $status = 0 ] || [ $status = 77 ]
}
# A command that hangs becomes a failure with a name.
limited() { timeout --kill-after=30 40m "$@"; }
loom() { RUSTFLAGS='--cfg loom' CARGO_TARGET_DIR=$build/loom limited "$cargo" test -q -p flick-sync --test loom --test loom_token; }
# Commands that compile much run with clang and lld started once (tests/README.md).
warm() { limited "$build/test/flick-test" --warm "$@"; }
corpus() { limited "$build/test/flick-test" --flick "$flick_cc" --work "$build/test/corpus" "$@"; }

# What `make rust` builds. With these, packages that they share are not built for other features again.
products=(flick-cli flick-shared flick-static flick-debug flick-card)

# Beside unit tests, these are the tests of whole crates that take a few seconds at most. Tests that
# need an example are left out, because cargo builds no example for tests that are named.
short=(arrows bus changing_code circles conversions differential fat_units fuzz golden identity
  instrumented machine names pages planted record repeat table table_index trace
  trace_allocates_nothing vectors)

short_rust_tests() {
  check "Rust tests, the short ones" warm "$cargo" test --workspace --no-fail-fast --lib --bins "${short[@]/#/--test=}"
}
# First the forms of libflick, which tests load (tests/support/src/library.rs), and which `cargo test`
# does not build. With the tests, what they use is built with the features of the workspace, and once.
rust_tests() {
  local libraries="'$cargo' build --workspace --lib --tests && export TESTED_LIBRARIES='$CARGO_TARGET_DIR/debug'"
  check "Rust tests" warm sh -c "$libraries && '$cargo' test --workspace --no-fail-fast"
  check "Firmware: tests, models, format, lints" scripts/firmware.sh test
  check "Interleavings of threads (loom)" loom
}
card_checks() {
  check "Programs on the card's kernel" tests/card/run.sh
  check "C and C++ programs on the card" tests/card/run-programs.sh
  check "What is seen of the card's kernel" tests/card/run-seen.sh
  check "Runs of the card's kernel against its models" tests/card/run-models.sh
  check "Measurements of the Nanvix paper, a few" tests/card/run-paper.sh
  check "Measurements of the M3x paper, a few" tests/card/run-m3x.sh
  check "Migration between unequal harts" tests/card/run-migration.sh
  check "Accelerators" tests/card/run-accelerators.sh
  check "The root's kernel, attacked and with faults" tests/card/run-root.sh
  check "Programs of tiles that a root governs" tests/card/run-tiles.sh
  check "Servers of files" tests/card/run-files.sh
  check "Shell of the card" tests/card/run-shell.sh
  check "Host programs with accelerators" tests/card/run-host.sh
  check "Programs of BusyBox on the card, with files of a server" tests/card/run-busybox.sh
}
script_checks() {
  card_checks
  check "NxP library under qemu-riscv64" make -s -C nxp OUT="$build/obj/nxp" check
  check "What LLVM may call, a sample" tests/libcalls/matrix.py --sample
  check "Graph files" scripts/check-graphs.sh
  check "Examples by gcc and clang" examples_plain
  check "Examples by flick-cc" examples_flick
  check "What the system sees" scripts/check-elf.sh
  check "Names that a program may define" tests/own-names/run.sh
  check "Random signatures" warm tests/signatures/run.sh
  check "Programs of earlier versions" tests/releases/run.sh
  check "flick doctor" "$flick" doctor
  check "What the tools say" warm scripts/check-visible.sh
  check "gdb" scripts/check-gdb.sh
  check "gdb, code that is made at run time" scripts/check-gdb.sh run
  check "gdb on the card" scripts/check-gdb-card.sh
  check "gdb on a machine" scripts/check-machine-gdb.sh
  check "Instruction counts" tests/counts/run.sh
  check "Virtual time" tests/timing/run.sh
}

project_checks() { check "Projects" warm tests/projects/run.sh; }
drawn_and_real_checks() {
  check "Torture, a few seeds" "$flick" torture --seed 1 --count 8 --placements 1 --keep "$build/test/torture"
  # A machine without a compiler for the card's harts has no kernel.
  [ ! -e "$build/lib/flick/card/kernel-host.elf" ] ||
    check "Torture on the card" "$flick" torture --backend card --seed 1 --count 8 --placements 1 --keep "$build/test/torture"
  check "Strangers, a sample" limited scripts/strangers.sh --sample 100
  check "Real projects" warm tests/real/run.sh --quick
}

# This is one compound command, so that bash has read all of it before an edit can reach it.
{
check "Format: Rust" "$cargo" fmt --all --check
check "Format: C and C++" format_c
check "Shell scripts parse" format_sh
check "Prose" tests/prose/run.sh
check "Lint: clippy" "$cargo" clippy -q --workspace --all-targets -- -D warnings
check "Runner of the corpus" sh -c "'$cargo' build -q --release ${products[*]/#/-p } -p flick-tests && cp '$CARGO_TARGET_DIR/release/flick-test' '$build/test/'"
if [ $kind = check ]; then
  at_once short_rust_tests card_checks
  check "Compiler pass" warm tests/pass/run.sh
  check "Instruction counts" tests/counts/run.sh
  check "Corpus, one mode" corpus --quick
else
  at_once rust_tests script_checks
  check "Compiler pass" warm tests/pass/run.sh
  check "Installed elsewhere" installed
  at_once project_checks drawn_and_real_checks

  # In one command: they share the runs of the programs that plain clang builds.
  check "Corpus" corpus $matrix --random 20 --plain --valgrind --card --errors
  check "Corpus in virtual time" limited "$build/test/flick-test" --flick "$flick_cc" --work "$build/test/corpus-timed" --quick --timed near-memory
  [ $matrix = --pairwise ] || check "Debian package on a fresh system" fresh_system
  [ $matrix = --pairwise ] || check "Runtime with AddressSanitizer" tests/asan/run.sh
  [ $matrix = --pairwise ] || check "Planted faults are caught" tests/planted/run.sh
fi

echo
for name in "${broken[@]}"; do echo "FAILED: $name"; done
echo "after $(((SECONDS - began) / 60)) min $(((SECONDS - began) % 60)) s; logs: $logs"
echo "$passed passed, $failed failed, $skipped skipped"
exit $((failed != 0))
}

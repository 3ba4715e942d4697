#!/bin/bash
# Tests mutations of the marshaller, the unwinder and the signal path, which cargo-mutants draws
# from the source. Each is put into a copy of the tree, which is built and tested. The last line is
# `N passed, N failed`; passed means caught. survivors.txt has the mutations that no test can catch,
# because they change nothing, with the reasons.
#
#   mutants.sh [--seed N] [--count N] [--work DIR] [PART...]
#
# PART is marshaller, unwinder or signals (all three by default). --count (24) is the number of
# mutations that build, of all parts together. A mutation that does not build is shown and does not
# count. A seed draws the same mutations from the same source. DIR (build/mutants) is kept, so that
# a second run builds less.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$root/build/mutants seed=1 count=24 parts=()
while [ $# -gt 0 ]; do
  case $1 in
  --seed) seed=$2 && shift 2 ;;
  --count) count=$2 && shift 2 ;;
  --work) work=$2 && shift 2 ;;
  marshaller | unwinder | signals) parts+=("$1") && shift ;;
  *) sed -n '2,/^set/s/^# \?//p' "$0" >&2 && exit 2 ;;
  esac
done
[ ${#parts[@]} -gt 0 ] || parts=(marshaller unwinder signals)
mkdir -p "$work"
work=$(cd "$work" && pwd)
. "$here/tree.sh"
version=27.1.0

files() { # PART
  case $1 in
  marshaller) echo crates/libflick/runtime/src/crossing/marshal.rs crates/abi/src/signature.rs ;;
  unwinder) echo crates/libflick/runtime/src/crossing/{unwinding,returns_twice}.rs crates/image/src/{unwind_rows,host_frames}.rs ;;
  signals) echo crates/libflick/runtime/src/{signals/dispositions,thread/activations,crossing/{leaving,signal_handler,step}}.rs crates/libflick/shared/src/signals.rs ;;
  esac
}
# The programs that test the part catch most mutations. If they let a mutation pass, all other
# programs test it, too.
subjects() { # PART
  case $1 in
  marshaller) echo abi_,variadic,class_shapes,point_,args,int_results,many_,va_list,sret ;;
  unwinder) echo exception,longjmp,setjmp,cleanup,noexcept,backtrace,pthread_ ;;
  signals) echo signal,segv,sigbus,trap,stack_overflow,sigaction ;;
  esac
}

tool=$work/tools/bin/cargo-mutants
if ! [ -x "$tool" ]; then
  echo "Installing cargo-mutants $version in $work/tools"
  CARGO_TARGET_DIR=$work/tools/target "${CARGO:-cargo}" install -q --locked --root "$work/tools" \
    "cargo-mutants@$version" || exit 1
fi

# Both triggers on one build. A mutation of the runtime does not change what the compiler makes: the
# programs are built once and run again on each runtime. The image's tables are in the programs,
# those of plain clang excepted.
mode=pie,lld,O2
suite() { # ARGUMENTS...
  corpus --full --mode $mode --again "$@" >"$work/out" 2>"$work/err"
}
# The mistakes of docs/mistakes.md are left out, because the linker prints more about a libflick.a
# that is not optimised as a whole.
bad_input=$(find "$root/tests/errors" -type f -printf '%f\n' | sed 's/\..*//' | sort -u | paste -sd,)
errors() { corpus --errors --stop --filter "$bad_input" >"$work/out" 2>"$work/err"; }
broken() {
  cat "$work/out" "$work/err" >>"$log"
  echo "The tests fail without a mutation: $(tail -n 1 "$work/out"), see $log"
  echo "0 passed, 1 failed"
  exit 1
}
prepare || { echo "0 passed, 1 failed" && exit 1; }
echo "Building the corpus"
rm -rf "$programs" "$work/programs"
suite || broken
suite || broken
errors || broken
cp -a "$programs" "$work/programs"
# Programs as they are without a mutation, or with `none` to be built.
fresh() { # [none]
  rm -rf "$programs"
  cp -a "$work/programs" "$programs"
  [ $# = 0 ] || rm -rf "$programs"/*-"${mode//,/-}"
}

# Writes the chosen mutations, twice as many as are wanted, because some do not build. cargo-mutants
# leaves out unsafe functions, and most of these are unsafe. So it reads the files with the word
# `unsafe` turned into a comment.
draw() { # PART NUMBER
  local file arguments=()
  for file in $(files "$1"); do
    arguments+=(--file "$file")
    cp "$tree/$file" "$work/${file//\//:}"
    sed -i -E 's#unsafe ((extern "C" )?fn )#/****/ \1#' "$tree/$file"
  done
  (cd "$tree" && "$tool" mutants --list --json --diff "${arguments[@]}") >"$work/list"
  for file in $(files "$1"); do mv "$work/${file//\//:}" "$tree/$file"; done
  rm -rf "$work/drawn" && mkdir "$work/drawn"
  python3 - "$work/list" "$work/drawn" "$seed" "$2" "$here/survivors.txt" "$tree" <<'PYTHON'
import json, random, re, sys
path, out, seed, count, survivors, tree = sys.argv[1:]
known = {line.rsplit(" | ", 1)[0].strip() for line in open(survivors) if line.strip() and line[0] != "#"}
text = {}
def name(m):
    lines = text.setdefault(m["file"], open(f"{tree}/{m['file']}").read().split("\n"))
    line = lines[m["span"]["start"]["line"] - 1].strip()
    return re.sub(r":\d+:\d+", "", m["name"]) + f" @ {line}"
mutants = [m for m in json.load(open(path)) if name(m) not in known]
mutants = random.Random(int(seed)).sample(mutants, min(2 * int(count), len(mutants)))
for number, m in enumerate(mutants):
    with open(f"{out}/{number:03}", "w") as f:
        f.write(f"{m['file']}\n{m['name']}\n{name(m)}\n{m['diff'].replace('/****/', 'unsafe')}")
PYTHON
}

# Builds only the parts that the mutation changes: the runtime, or all with the compiler driver.
make_mutant() { # FILE
  case $1 in
  crates/image/*) build ;;
  *)
    in_tree "${CARGO:-cargo}" build -q --release -p flick-shared &&
      install -m 755 "$work/target/release/libflick.so" "$work/build/lib/flick/$soname"
    ;;
  esac
}
soname=$(basename "$(readlink -f "$work/build/lib/flick/libflick.so")")

unit_tests() { # FILE
  local crate=${1%/src/*}
  in_tree timeout 300 "${CARGO:-cargo}" test -q --release -p "flick-${crate##*/}"
}

# Runs the tests, the likeliest to fail first, and prints the failure. It fails itself if all pass.
# A test that does not end fails, too.
caught() { # PART FILE
  local stage status
  case $2 in
  crates/image/*) fresh none ;;
  *) fresh ;;
  esac
  for stage in part all unit errors; do
    status=0
    case $stage in
    part) suite --stop --filter "$(subjects "$1")" || status=$? ;;
    all) suite --stop || status=$? ;;
    errors) errors || status=$? ;;
    unit) unit_tests "$2" || { echo "unit tests" && return 0; } ;;
    esac
    [ $status = 0 ] && continue
    cat "$work/out" >>"$log"
    case $status in
    1) caught_by "$work/out" ;;
    124) echo "does not end" ;;
    *) echo "flick-test: exit status $status" ;;
    esac
    return 0
  done
  return 1
}

passed=0 failed=0
row() { printf '%-9s %-11s %-78s %s\n' "$@"; }

try() { # PART MUTANT-FILE
  local file name by result=0
  file=$(sed -n 1p "$2") name=$(sed -n 2p "$2")
  cp "$tree/$file" "$work/original"
  echo "== $name" >>"$log"
  if ! sed 1,3d "$2" | patch -s "$tree/$file" >>"$log" 2>&1 || ! make_mutant "$file"; then
    row "no build" "$1" "${name#crates/}" ''
    result=1
  elif by=$(caught "$1" "$file"); then
    row caught "$1" "${name#crates/}" "$by"
    passed=$((passed + 1))
  else
    row SURVIVED "$1" "${name#crates/}" "$(sed -n 3p "$2")"
    failed=$((failed + 1))
  fi
  cp "$work/original" "$tree/$file"
  # Mutations of the runtime do not build the driver again.
  case $file in crates/image/*) build ;; esac
  return $result
}

row RESULT PART MUTATION 'BY (the first that failed)'
for part in "${parts[@]}"; do
  wanted=$((count / ${#parts[@]}))
  draw "$part" "$wanted"
  for mutant in "$work"/drawn/*; do
    [ $wanted -gt 0 ] || break
    if try "$part" "$mutant"; then wanted=$((wanted - 1)); fi
  done
  [ $wanted = 0 ] || { echo "$part: too few of those drawn build" && failed=$((failed + 1)); }
done
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]

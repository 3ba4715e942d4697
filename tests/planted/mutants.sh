#!/bin/bash
# Mutations of the marshaller, the unwinder and the signal path, which cargo-mutants draws from the source:
# each is put into a copy of the tree, which is built and tested. The last line is `N passed, N failed`; passed
# means caught. What nobody can catch, because it changes nothing, stands in survivors.txt with the reason.
#
#   mutants.sh [--seed N] [--count N] [--work DIR] [PART...]
#
# PART: marshaller, unwinder, signals (all three). --count 24: so many of all parts together. A seed draws the
# same mutations from the same source.
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
  marshaller) echo crates/run/src/marshal.rs crates/abi/src/signature.rs ;;
  unwinder) echo crates/run/src/{unwinding,returns_twice}.rs crates/image/src/{unwind,host_frames}.rs ;;
  signals) echo crates/run/src/{signals,active,step}.rs crates/libflick-so/src/signals.rs ;;
  esac
}
# The programs that are about the part, which catch most; what they let pass must pass all the others, too.
programs() { # PART
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
prepare || { echo "0 passed, 1 failed" && exit 1; }

# More than asked for: some do not build.
draw() { # PART NUMBER
  local file arguments=()
  for file in $(files "$1"); do arguments+=(--file "$file"); done
  (cd "$tree" && "$tool" mutants --list --json --diff "${arguments[@]}") >"$work/list"
  rm -rf "$work/drawn" && mkdir "$work/drawn"
  python3 - "$work/list" "$work/drawn" "$seed" "$2" "$here/survivors.txt" <<'PYTHON'
import json, random, re, sys
path, out, seed, count, survivors = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]
mutants = json.load(open(path))
known = {line.split("|")[0].strip() for line in open(survivors) if line.strip() and line[0] != "#"}
name = lambda m: re.sub(r":\d+:\d+", "", m["name"]).strip()
mutants = [m for m in mutants if name(m) not in known]
mutants = random.Random(seed).sample(mutants, min(2 * count, len(mutants)))
for number, m in enumerate(mutants):
    with open(f"{out}/{number:03}", "w") as f:
        f.write(f"{m['file']}\n{m['name']}\n{m['diff']}")
PYTHON
}

passed=0 failed=0
row() { printf '%-8s %-11s %-100s %s\n' "$@"; }

# The first tests that fail are enough.
try() { # PART MUTANT-FILE
  local file name status=0
  file=$(sed -n 1p "$2") name=$(sed -n 2p "$2")
  echo "== $name" >>"$log"
  if ! sed 1,2d "$2" | patch -s "$tree/$file" >>"$log" 2>&1 || ! build; then
    cp "$root/$file" "$tree/$file"
    return 1
  fi
  for tests in "--quick --filter $(programs "$1")" unit "--quick"; do
    if [ "$tests" = unit ]; then
      in_tree "${CARGO:-cargo}" test -q --release -p flick-run -p flick-abi -p flick-image || status=$?
      [ $status = 0 ] || { row caught "$1" "$name" 'unit tests' && break; }
    else
      # shellcheck disable=SC2086  # the arguments are words
      corpus $tests >"$work/out" 2>/dev/null || status=$?
      cat "$work/out" >>"$log"
      [ $status = 0 ] || { row caught "$1" "$name" "$(caught_by "$work/out")" && break; }
    fi
  done
  if [ $status = 0 ]; then
    row SURVIVED "$1" "$name" ''
    sed 1,2d "$2"
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
  fi
  cp "$root/$file" "$tree/$file"
}

row RESULT PART MUTATION 'BY (up to three programs)'
for part in "${parts[@]}"; do
  wanted=$((count / ${#parts[@]}))
  draw "$part" "$wanted"
  for mutant in "$work"/drawn/*; do
    [ $wanted -gt 0 ] || break
    if try "$part" "$mutant"; then wanted=$((wanted - 1)); fi
  done
done
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]

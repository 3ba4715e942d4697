#!/bin/bash
# Checks the commands of docs/debugging.md in gdb: live, after a crash, in a core file, dynamic and
# static. It needs a built tree, and prints `ok` or `FAIL` for each check.
#
#   check-gdb.sh [link | run]   the code that the link makes, or the same expectations of code that is
#                               made at run time
set -uo pipefail
. "$(dirname "$0")/lib.sh"
translate=${1:-link}
command -v gdb >/dev/null || skip_tests "there is no gdb"
gdb -batch -ex 'python print(1)' 2>/dev/null | grep -qx 1 || skip_tests "this gdb has no Python"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
if [ "$translate" = run ]; then
  for driver in "$flick_cc" "$flick_cxx"; do
    printf '#!/bin/sh\nexec "%s" --flick-translate=run "$@"\n' "$driver" >"${driver##*/}" && chmod +x "${driver##*/}"
  done
  flick_cc=$work/flick-cc flick_cxx=$work/flick-c++
fi
# A core file is not of the size of the reserved address space.
ulimit -f 1000000
cp "$root/tests/c/report_frames.c" crash.c
cat >fine.c <<'END'
#include <flick.h>
#include <stdio.h>
static long total;
FLICK_HOST __attribute__((noinline)) void stop_here(long x) { total += x; }
static inline void twice(long x) { stop_here(x); stop_here(x); }
FLICK_NXP __attribute__((noinline)) long work(long x) { twice(x); return x + 1; }
FLICK_NXP __attribute__((noinline)) long outer(long x) { long a = work(x); return a + 1; }
int main(void) {
  for (long i = 0; i < 3; i++) total += outer(i);
  printf("total %ld\n", total);
  return 0;
}
END
# When the timer stops this program, it is in NxP code, at any instruction.
cat >busy.c <<'END'
#include <flick.h>
#include <sys/time.h>
FLICK_NXP __attribute__((noinline)) long leaf(long x) { return x * 3 + 1; }
FLICK_NXP __attribute__((noinline)) long fib(long n) { return n < 2 ? leaf(n) : fib(n - 1) + fib(n - 2); }
FLICK_NXP __attribute__((noinline)) long outer(long n) { long a = fib(n); return a + 1; }
int main(void) {
  long all = outer(5);
  struct itimerval soon = {{0, 0}, {0, 20000}};
  setitimer(ITIMER_VIRTUAL, &soon, NULL);
  for (int i = 0; i < 1000; i++) all += outer(40);
  return all == 0;
}
END
# A gdb without the script stops at its lines.
cat >lines.c <<'END'
#include <flick.h>
#include <stdio.h>
static volatile long total;
static inline long square(long x) {
  long y = x * x;
  total += y;
  return y;
}
FLICK_NXP __attribute__((noinline)) long work(long x) {
  long a = 0;
  for (long i = 0; i < x; i++) {
    a += square(i);
  }
  total ^= a;
  return a + 1;
}
int main(void) {
  printf("%ld %ld\n", work(10), total);
  return 0;
}
END
# Every step must show all frames up to main, with at most one frame more or less than the step
# before.
cat >busy.py <<'END'
import re
gdb.execute("handle SIGVTALRM stop nopass", to_string=True)
gdb.execute("run", to_string=True)
gdb.execute("handle SIGVTALRM nostop noprint nopass", to_string=True)
seen, last, broken, leaps = set(), None, 0, 0
for _ in range(300):
    gdb.execute("stepi", to_string=True)
    lines = gdb.execute("bt", to_string=True).splitlines()
    # A frame at the beginning of a line has no address.
    names = [re.sub(r"^#[0-9]+ +(0x[0-9a-f]+ in )?", "", line).split(" (")[0] for line in lines]
    nxp = [name for name in names if name.endswith("[NxP]")]
    broken += nxp[-1:] != ["outer [NxP]"] or names[-1] != "main"
    leaps += last is not None and abs(len(nxp) - last) > 1
    last = len(nxp)
    seen.update(nxp)
print("seen: %s; %d broken, %d leaps" % (", ".join(sorted(seen)), broken, leaps))
END
for kind in dynamic static; do
  [ $kind = static ] && option=-static || option=
  "$flick_cc" -O1 -g $option crash.c -o crash-$kind && "$flick_cc" -O1 -g $option fine.c -o fine-$kind || exit 1
done
for level in O0 O2; do "$flick_cc" -$level -g busy.c -o busy-$level || exit 1; done
if ! gdb -nx -batch -ex run ./fine-dynamic 2>&1 | grep 'exited normally' >/dev/null; then
  skip_tests "gdb cannot start a program here (ptrace)"
fi
passed=0 failed=0
# Checks that gdb's output has lines that match the patterns, in this order.
in_order() { # PATTERN...
  awk 'BEGIN { for (i = 1; i < ARGC; i++) want[i] = ARGV[i]; n = ARGC - 1; ARGC = 1; at = 1 }
    at <= n && $0 ~ want[at] { at++ }
    END { if (at <= n) print "no match, in this order, for: " want[at]; exit at <= n }' "$@" <log >why ||
    { cat why >>log; return 1; }
}
with_script() { # PROGRAM GDB-OPTIONS...
  local program=$1
  shift
  timeout 120 "$flick" gdb -nx -batch "$@" "$program" >log 2>&1
}
callers=('[#]0 .*stop_here' 'twice \[NxP, inlined\].*fine.c:5' 'work \[NxP\].*fine.c:6' \
  'outer \[NxP\].*fine.c:7' 'main .*fine.c:9')
# Of interpreted code the script shows the place. Translated code has frames of gdb's own. As of
# clang's code, gdb shows the caller where a function that was inlined begins at the instruction.
stopped=('^0x[0-9a-f]+ in next_of .NxP, inlined. .. at .*crash.c:26$' '^26\t')
stopped_translated=('(next_of|second_of) .* at .*crash.c:2[67]$' '^2[67]\t')
crashed=('next_of \[NxP, inlined\].*crash.c:26' 'second_of \[NxP, inlined\].*crash.c:27' 'walk \[NxP\].*crash.c:29' \
  ' host .*crash.c:30' 'middle \[NxP\].*crash.c:31' 'outer \[NxP\].*crash.c:33' 'main ')

behind=("${crashed[@]:2}")
# These have every pair of kind, trigger and engine. At run time gdb gets code of dynamic programs
# alone, and the interpreter is the same.
ways=("dynamic gate translate" "dynamic fault interp" "static gate interp" "static fault translate")
[ "$translate" = link ] || ways=("dynamic gate translate" "dynamic fault translate")
for way in "${ways[@]}"; do
  read -r kind trigger engine <<<"$way"
  export FLICK_TRIGGER=$trigger FLICK_ENGINE=$engine
  place=("${stopped[@]}") first=("${crashed[@]:0:2}") caller='^#.* host .*crash.c:30'
  if [ $engine = translate ]; then
    place=("${stopped_translated[@]}") first=('second_of \[NxP, inlined\].*crash.c:27') caller='^#.* (second_of|walk) .*crash.c:2[79]'
  fi
  with_script ./fine-$kind -ex 'break stop_here' -ex run -ex bt -ex 'info flick' -ex 'flick-nxp registers'
  in_order "${callers[@]}" "trigger: $trigger" 'functions' 'gate of outer, in a host function' '^ra +0x' '^sp '
  result "backtrace in a host function ($kind, $trigger, $engine)" $?

  with_script ./fine-$kind -ex run
  in_order 'exited normally' && ! grep -q SIGSEGV log
  result "nothing stops a program that migrates ($kind, $trigger, $engine)" $?

  with_script ./crash-$kind -ex run -ex bt -ex 'generate-core-file core' -ex kill
  grep -q SIGSEGV log && in_order "${place[@]}" "${first[@]}" "${behind[@]}"
  result "a fault in NxP code stops, and its place is shown ($kind, $trigger, $engine)" $?

  ! grep -E 'auto-load|safe-path' log
  result "nothing is said of scripts that are not trusted ($kind, $trigger, $engine)" $?

  with_script ./crash-$kind -ex run -ex up
  in_order "${place[0]}" "$caller"
  result "its caller is one up ($kind, $trigger, $engine)" $?

  [ -s core ] && [ "$(stat -c %s core)" -lt 200000000 ]
  result "a core file is made and small ($kind, $trigger, $engine)" $?
  if [ -s core ]; then
    timeout 120 "$flick" gdb -nx -batch -ex bt -ex 'info flick' ./crash-$kind core >log 2>&1
    in_order "${crashed[@]}" 'gate of walk, in NxP code'
    result "core file ($kind, $trigger, $engine)" $?
    # By the command line, and by a command.
    for opened in "-batch ./crash-$kind core" "./crash-$kind"; do
      timeout 120 "$flick" gdb -nx $opened >log 2>&1 <<<$'core-file core\nprint 1'
      in_order 'next_of .* at .*crash.c:26$' '^26\t'
      result "its place is shown when it is opened ($kind, $trigger, $engine)" $?
    done
    rm -f core
  fi
done
unset FLICK_TRIGGER FLICK_ENGINE
for level in O0 O2; do
  FLICK_ENGINE=translate with_script ./busy-$level -x busy.py
  in_order 'seen: fib .NxP., leaf .NxP., outer .NxP.; 0 broken, 0 leaps'
  result "at any instruction of translated code (-$level)" $?
done
# gdb itself finds the script beside the library, if the user trusts the directory.
timeout 120 gdb -nx -batch -iex "add-auto-load-safe-path $build/lib/flick" -ex 'break stop_here' -ex run -ex bt \
  ./fine-dynamic >log 2>&1
in_order "${callers[@]}"
result "the script is loaded with the library" $?
# gdb without the script, and every frame of code that the link has translated.
cat >nested.c <<'END'
#include <flick.h>
FLICK_NXP __attribute__((noinline)) int inner(volatile int *p) { return *p; }
FLICK_NXP __attribute__((noinline)) int middle(volatile int *p) { volatile int a[9]; a[*p] = 1; return inner(p) + a[1]; }
FLICK_NXP __attribute__((noinline)) int outer(volatile int *p) { return middle(p) + inner(p); }
int main(void) {
  volatile int one = 1;
  return outer(&one) != 3;
}
END
for level in O0 O2; do
  "$flick_cc" -$level nested.c -o nested
  timeout 120 gdb -nx -batch -iex 'set auto-load off' -ex 'set breakpoint pending on' -ex 'break inner.nxp' -ex run -ex bt -ex finish \
    -ex 'stepi' -ex bt -ex delete -ex continue ./nested >log 2>&1
  in_order 'inner.nxp' 'middle.nxp' 'outer.nxp' ' main ' 'middle.nxp' 'outer.nxp' ' main ' 'exited normally'
  result "each NxP frame without the script (-$level)" $?
done
# Variables, and frames that cross, with the script and without.
cat >variables.c <<'END'
#include <flick.h>
#include <stdio.h>
struct point { int x; double y; char name[8]; };
enum color { RED, GREEN = 5 };
FLICK_HOST __attribute__((noinline)) long on_host(long v);
FLICK_NXP __attribute__((noinline)) long innermost(struct point *p, enum color c, float f) {
  static int calls;
  long sum = p->x;
  calls += 2;
  for (int i = 0; i < 3; i++) {
    long square = (long)i * i;
    sum += square + (long)f;
  }
  return sum + c;
}
FLICK_NXP __attribute__((noinline)) long down(long n) {
  long here = n * 10;
  if (n == 0) return on_host(here);
  long deeper = down(n - 1);
  return deeper + here;
}
long on_host(long v) {
  struct point p = {(int)v + 7, 2.5, "hello"};
  int numbers[v + 2];
  for (int i = 0; i < v + 2; i++) numbers[i] = i + 3;
  long got = innermost(&p, GREEN, 1.5f);
  return got + numbers[1];
}
FLICK_NXP long sized(int n) {
  int numbers[n];
  for (int i = 0; i < n; i++) numbers[i] = i + 3;
  return numbers[n - 1];
}
int main(void) {
  printf("%ld\n", down(2) + sized(3));
  return 0;
}
END
shown=('^#0 .*innermost.* .p=0x[0-9a-f]+, c=GREEN, f=1.5. at variables.c:14' '^#[12] .*on_host .v=0. at variables.c:26'
  'down.* .n=0. at variables.c:18' 'down.* .n=1. at variables.c:19' 'down.* .n=2. at variables.c:19' ' main ..'
  '^calls = 2$' '^sum = 15$' '^.1 = .x = 7, y = 2.5, name = "hello.000.000".$' '^here = 0$' '^here = 10$'
  'n = 1$' '^numbers = .3, 4, 5.$' 'Value returned is .* = 5' 'exited normally')
commands=(-ex 'break variables.c:14' -ex run -ex bt -ex 'info locals' -ex 'print *p' -ex 'frame function down' -ex 'info locals' -ex up
  -ex 'info locals' -ex 'info args' -ex 'break variables.c:32' -ex continue -ex 'info locals' -ex finish -ex continue)
"$flick_cc" -O0 -g variables.c -o variables || exit 1
timeout 120 gdb -nx -batch -iex 'set auto-load off' "${commands[@]}" ./variables >log 2>&1
in_order "${shown[@]}"
result "variables, and frames that cross, without the script" $?
with_script ./variables "${commands[@]}"
in_order 'innermost .NxP. .p=' 'down .NxP. .n=0' "${shown[@]:6}"
result "variables, and frames that cross, with the script" $?
# With the script `next` and `finish` stay among frames, too.
for script in off on; do
  [ $script = on ] && start=("$flick" gdb) || start=(gdb -iex 'set auto-load off')
  timeout 120 "${start[@]}" -nx -batch -ex 'break variables.c:18' -ex run -ex delete -ex next -ex next -ex next \
    -ex 'print deeper' -ex finish -ex continue ./variables >log 2>&1
  in_order '^20\t' '^21\t' '^.1 = 34' 'Value returned is .* = 54' 'exited normally'
  result "next and finish in NxP code (script: $script)" $?
done
# Leaves that the host calls without a crossing. gdb's `step` goes through the gate.
cat >leaves.c <<'END'
#include <flick.h>
#include <stdio.h>
static inline long part(const long *p, long n) { return p[n] * 3; }
FLICK_NXP __attribute__((noinline)) long leaf(const long *p, long n) {
  long sum = part(p, n);
  return sum + *p;
}
FLICK_HOST __attribute__((noinline)) long on_host(const long *p, long n) {
  long kept = n * 7 + *p;
  long got = leaf(p, n);
  return got + kept;
}
FLICK_NXP __attribute__((noinline)) long outer(const long *p) {
  long got = on_host(p, 1);
  return got + 1;
}
int main(int argc, char **argv) {
  long numbers[2] = {4, 5};
  (void)argv;
  printf("%ld\n", outer(numbers));
  return argc > 1 ? (int)leaf(NULL, 1) : 0;
}
END
"$flick_cc" -O1 -g leaves.c -o leaves || exit 1
# With code that is made at run time, `step` stays on the host.
[ "$translate" = link ] && way=(-ex 'break leaves.c:10' -ex run -ex delete -ex step) || way=(-ex 'break leaves.c:6' -ex run -ex delete)
commands=("${way[@]}" -ex bt -ex 'frame function on_host' -ex 'info locals' -ex 'frame 0' -ex finish
  -ex next -ex 'print got' -ex continue)
for script in off on; do
  [ $script = on ] && start=("$flick" gdb) || start=(gdb -iex 'set auto-load off')
  timeout 120 "${start[@]}" -nx -batch "${commands[@]}" ./leaves >log 2>&1
  in_order 'leaf .p=0x[0-9a-f]+, n=.* at leaves.c:[56]' '^#0 .*leaf.* at leaves.c:[56]' '^#1 .*on_host .*n=1. at leaves.c:10' 'outer.* at leaves.c:14' \
    ' main .* at leaves.c:20' 'kept = 11$' 'Value returned is .* = 19' '^.[0-9]+ = 30' '^31' 'exited normally'
  result "frames of a leaf that the host calls, and finish (script: $script)" $?
done
in_order '^#0 .*leaf .NxP. .*leaves.c:[56]' '^#[0-9]+ .*outer .NxP. '
result "its frame has the name of NxP code" $?
with_script ./leaves -ex 'run fault' -ex bt -ex 'info flick' -ex 'flick-nxp registers' -ex 'generate-core-file core' -ex kill
if [ "$translate" = link ]; then
  in_order SIGSEGV '^#.* leaf .NxP. .p=0x0.* at leaves.c:5' '^#.* main .*leaves.c:21' 'crossings of this thread: 1' 'gate of leaf, in NxP code' \
    '^pc .*<part> at .*leaves.c:3' '^a0 +0x0+ '
  result "a fault in a leaf that the host has called" $?
  timeout 120 "$flick" gdb -nx -batch -ex bt -ex 'info flick' ./leaves core >log 2>&1
  in_order '^#.* leaf .NxP. .p=0x0.* at leaves.c:5' '^#.* main .*leaves.c:21' 'gate of leaf, in NxP code'
  result "a fault in a leaf that the host has called, in a core file" $?
  rm -f core
fi
# The same through calls whose arguments are moved at the crossing, both ways.
cat >moved.c <<'END'
#include <flick.h>
#include <stdio.h>
struct triple { long x, y, z; };
FLICK_NXP __attribute__((noinline)) float innermost(float f, struct triple t, long n) {
  float sum = f + (float)t.z;
  return sum + (float)n;
}
FLICK_HOST __attribute__((noinline)) float on_host(long a, long b, long c, long d, long e, long g, long h, struct triple t, float f) {
  float got = innermost(f, t, h);
  got += (float)a;
  return got;
}
FLICK_NXP __attribute__((noinline)) float outer(float f, struct triple t) {
  long kept = t.x * 3;
  float got = on_host(1, 2, 3, 4, 5, 6, 7, t, f);
  got *= 2;
  return got + (float)kept;
}
int main(void) {
  struct triple t = {10, 20, 30};
  float all = outer(1.5f, t);
  all += outer(2.5f, t);
  printf("%g\n", all);
  return 0;
}
END
# The first call by a signature takes the slow path.
moved=('^#0 .*innermost.* .f=2.5, t=..., n=7. at moved.c:5' '^#[12] .*on_host .*f=2.5.* at moved.c:9' 'outer.* at moved.c:15'
  ' main .. at moved.c:22' 'kept = 30$' '^6\t' '^sum = 32.5' 'Value returned is .* = 39.5' '^10\t' '^11\t' 'Value returned is .* = 40.5' '^16\t'
  '^17\t' '^.[0-9]+ = 81' 'Value returned is .* = 111' '^220' 'exited normally')
commands=(-ex 'break moved.c:5' -ex run -ex continue -ex delete -ex bt -ex 'frame function outer' -ex 'info locals' -ex 'frame 0'
  -ex next -ex 'info locals' -ex finish -ex next -ex next -ex finish -ex next -ex next -ex 'print got' -ex finish -ex continue)
options=('' -static)
[ "$translate" = link ] || options=('')
for option in "${options[@]}"; do
  # shellcheck disable=SC2086 # It may be no word.
  "$flick_cc" -O0 -g $option moved.c -o moved || exit 1
  for script in off on; do
    [ $script = on ] && start=("$flick" gdb) || start=(gdb -iex 'set auto-load off')
    timeout 120 "${start[@]}" -nx -batch "${commands[@]}" ./moved >log 2>&1
    in_order "${moved[@]}"
    result "frames, next and finish through arguments that are moved (script: $script${option:+, $option})" $?
  done
done
# A host function returns to the crossing, whose frame gdb must know again there.
cat >returns.c <<'END'
#include <flick.h>
#include <stdio.h>
FLICK_HOST __attribute__((noinline)) long on_host(long a) {
  a += 2;
  return a;
}
FLICK_NXP __attribute__((noinline)) long outer(long a) {
  long got = on_host(a);
  return got + 1;
}
int main(void) { printf("%ld\n", outer(outer(5))); }
END
"$flick_cc" -O0 -g returns.c -o returns || exit 1
# The first call makes the cell of the host function.
timeout 120 gdb -iex 'set auto-load off' -nx -batch -ex 'break on_host' -ex run -ex continue -ex finish -ex next \
  -ex finish ./returns >log 2>&1
in_order 'a=8' 'Value returned is .* = 10' '^9\t' 'Value returned is .* = 11'
result "finish of a host function that NxP code has called" $?
for level in O1 O2; do
  # Where optimised code has a variable, its value is right.
  "$flick_cc" -$level -g variables.c -o optimised || exit 1
  timeout 120 gdb -nx -batch -iex 'set auto-load off' -ex 'break innermost' -ex run -ex continue -ex 'print *p' -ex bt \
    -ex continue ./optimised >log 2>&1
  in_order 'innermost .p=0x[0-9a-f]+, c=GREEN, f=1.5. at' '^.1 = .x = 7, y = 2.5, name = "hello' 'down ' ' main '
  result "variables of optimised code (-$level)" $?
done
options=('' -static -no-pie)
[ "$translate" = link ] || options=('' -no-pie)
for option in "${options[@]}"; do
  # shellcheck disable=SC2086 # It may be no word.
  "$flick_cc" -O1 -g $option lines.c -o lines || exit 1
  # `break work` stops in the gate, too, which has no lines.
  timeout 120 gdb -nx -batch -iex 'set auto-load off' -ex 'break lines.c:14' -ex 'break work' -ex 'break square' \
    -ex run -ex continue -ex 'info symbol $pc' -ex 'info line *$pc' -ex continue -ex bt -ex 'delete 3' \
    -ex next -ex 'info symbol $pc' -ex continue -ex next -ex 'info symbol $pc' -ex continue ./lines >log 2>&1
  in_order 'Breakpoint 2.* gate of work ' 'Breakpoint 2.* work .* at lines.c:11' '^work.nxp.? ' '^Line 11 of "lines.c"' \
    'Breakpoint 3.* square .* at lines.c:[56]' '^#0 .*square .* at lines.c:[56]' '^#1 .*work .* at lines.c:12' \
    '^([567]|11|12)\t' '^work.nxp.? ' 'Breakpoint 1.* at lines.c:14' '^15\t' '^work.nxp.? ' 'exited normally'
  result "a gdb without the script stops at lines of translated code (${option:-dynamic})" $?
done
# `step` goes through gates, of functions with arguments of each kind, by name and by pointer.
cat >enter.cpp <<'END'
#include <cstdio>
#include <flick.h>
namespace deep {
struct Point {
  int x, y;
  FLICK_NXP __attribute__((noinline)) int sum(int k) const {
    volatile int r = x + y;
    return r * k;
  }
};
FLICK_NXP __attribute__((noinline)) double scaled(float by, Point p) {
  volatile double r = by * p.x;
  return r;
}
} // namespace deep
static FLICK_NXP __attribute__((noinline)) int quiet(int x) {
  volatile int r = x - 2;
  return r;
}
int main() {
  deep::Point p{1, 2};
  double (*volatile f)(float, deep::Point) = deep::scaled;
  int a = p.sum(3);
  double b = f(1.5f, p);
  int c = quiet(a);
  std::printf("%d %g\n", c, b);
}
END
# An early return makes no frame. Its callers' variables are in registers that it would have saved.
cat >early.c <<'END'
#include <flick.h>
FLICK_HOST __attribute__((noinline)) long host(long x) { __asm__ volatile(""); return x + 1; }
FLICK_NXP __attribute__((noinline)) long early(long n, long k) {
  if (n < 2)
    return k;
  long a = early(n - 1, k + 1);
  long b = host(n);
  return a + b * k;
}
FLICK_NXP __attribute__((noinline)) long outer(long n) { return early(n, n * 3) + n; }
int main(void) { return outer(3) != 80; }
END
if [ "$translate" = link ]; then
  for level in -O1 -O2; do
    "$flick_cc" $level -g early.c -o early || exit 1
    timeout 120 gdb -nx -batch -iex 'set auto-load off' -ex 'break early if n < 2' -ex run -ex bt -ex 'stepi 2' \
      -ex bt -ex delete -ex finish -ex continue ./early >log 2>&1
    frames=('^#0 .*early ' '^#1 .*early .n=2, k=10. ' '^#2 .*early .n=3, k=9. ' '^#3 .*outer ')
    in_order 'early .n=1, k=11. at .*early.c:4' "${frames[@]}" "${frames[@]}" '= 11$' 'exited normally'
    result "variables of an early return's callers ($level)" $?
  done
fi
for way in "-O0 bfd" "-O0 lld" "-O1 lld" "-O0 bfd -static" "-O0 bfd -gsplit-dwarf"; do
  # gdb looks for where a gate leads in the gate's own file alone.
  [ "$translate" = link ] || break
  read -r level linker option <<<"$way"
  # shellcheck disable=SC2086 # It may be no word.
  "$flick_cxx" $level -g $option -fuse-ld=$linker enter.cpp -o enter || exit 1
  timeout 120 gdb -nx -batch -iex 'set auto-load off' -ex 'break main' -ex run -ex 'tbreak 23' -ex continue \
    -ex step -ex 'print k' -ex 'tbreak 24' -ex continue -ex step -ex 'print by' \
    -ex 'tbreak 25' -ex continue -ex step -ex 'print x' -ex continue ./enter >log 2>&1
  in_order 'deep::Point::sum .this=0x[0-9a-f]+, k=3. at .*enter.cpp:7$' '^7.' '^.[0-9]+ = 3' \
    'deep::scaled .by=1.5, p=.* at .*enter.cpp:12$' '^12.' '^.[0-9]+ = 1.5' \
    'quiet .x=9. at .*enter.cpp:17$' '^17.' '^.[0-9]+ = 9' 'exited normally'
  result "step from host code into NxP functions ($way)" $?
done
# `step` goes through stubs, from NxP code into functions of the host, and over functions without
# lines.
cat >leave.cpp <<'END'
#include <cstdio>
#include <flick.h>
extern "C" int opaque(int x);
FLICK_HOST __attribute__((noinline)) int twice(int x) {
  volatile int y = x * 2;
  return y;
}
namespace deep {
struct Point {
  int x, y;
  FLICK_HOST __attribute__((noinline)) int sum(int k) const {
    volatile int r = x + y;
    return r * k;
  }
};
} // namespace deep
static FLICK_HOST __attribute__((noinline)) int quiet(int x) {
  volatile int y = x - 2;
  return y;
}
__attribute__((visibility("hidden"))) FLICK_HOST __attribute__((noinline)) float mixed(float f, int n) {
  volatile float y = f * n;
  return y;
}
FLICK_NXP __attribute__((noinline)) long work(const deep::Point &p, int x) {
  long a = twice(x);
  a += p.sum(x);
  a += quiet(x);
  a += opaque(x);
  a += (long)mixed(1.5f, x);
  a += 1;
  return a;
}
int main() {
  deep::Point p{1, 2};
  long a = work(p, 2);
  a += work(p, 5);
  std::printf("%ld\n", a);
  return 0;
}
END
echo 'int opaque(int x) { return x + 1; }' >opaque.c && clang-19 -fPIC -c opaque.c || exit 1
entered=('twice .x=2. at .*leave.cpp:5$' '^5.' ' work .*leave.cpp:26$' ' main ' '^6.' '^27.'
  'deep::Point::sum .this=0x[0-9a-f]+, k=2. at .*leave.cpp:1[12]$' 'Value returned is .* = 6' '^28.' 'quiet .x=2. at .*leave.cpp:18$' '^29.' '^30.'
  'mixed .f=1.5, n=2. at .*leave.cpp:22$' ' work .*leave.cpp:30$' ' main ' '^31.' '^32.' 'exited normally')
ways=("-O0 bfd" "-O0 lld" "-O1 lld" "-O2 bfd" "-O0 bfd -static" "-O0 bfd -no-pie" "-O0 lld -gsplit-dwarf"
  "-O0 bfd -shared" "-O1 lld -shared")
[ "$translate" = link ] || ways=("-O0 bfd" "-O1 lld" "-O0 bfd -no-pie")
for way in "${ways[@]}"; do
  read -r level linker option <<<"$way"
  output=leave
  [ "$option" = -shared ] && output=libleave.so option="-shared -fPIC -Dmain=program"
  # shellcheck disable=SC2086 # It may be no word, or several.
  "$flick_cxx" $level -g $option -fuse-ld=$linker leave.cpp opaque.o -o $output || exit 1
  if [ $output = libleave.so ]; then
    echo 'int _Z7programv(void); int main(void) { return _Z7programv(); }' >main.c
    clang-19 main.c ./libleave.so -o leave || exit 1
  fi
  timeout 120 gdb -nx -batch -iex 'set auto-load off' -iex 'set breakpoint pending on' -ex 'break leave.cpp:26' -ex run \
    -ex step -ex bt -ex step -ex next -ex step -ex finish -ex next -ex step \
    -ex 'tbreak 29' -ex continue -ex step -ex step -ex bt -ex 'tbreak 31' -ex continue -ex step -ex delete -ex continue \
    ./leave >log 2>&1
  in_order "${entered[@]}"
  result "step from NxP code into functions of the host ($way)" $?
done
# The same through pointers: `step` enters functions of the host that have lines, static ones too, and
# functions of the NxP; `next` enters none.
cat >pointer.cpp <<'END'
#include <cstdio>
#include <flick.h>
extern "C" int opaque(int x);
static FLICK_HOST __attribute__((noinline)) int twice(int x) {
  volatile int y = x * 2;
  return y;
}
struct Shape {
  int sides;
  FLICK_HOST virtual __attribute__((noinline)) int area(int k) {
    volatile int y = sides * k;
    return y;
  }
};
FLICK_HOST __attribute__((noinline)) float mixed(float f, int n, double d) {
  volatile float y = f * n + d;
  return y;
}
using Plain = int (*)(int);
using Mixed = float (*)(float, int, double);
FLICK_NXP __attribute__((noinline)) long work(Plain *plain, Mixed *mixed, Shape *shape, int x) {
  long a = plain[0](x);
  a += plain[1](x);
  a += shape->area(x);
  a += (long)mixed[0](1.5f, x, 0.5);
  a += plain[2](x);
  a += 1;
  return a;
}
static FLICK_NXP __attribute__((noinline)) int thrice(int x) {
  volatile int y = x * 3;
  return y;
}
int main() {
  Plain plain[] = {twice, opaque, thrice};
  Mixed others[] = {mixed};
  Shape shape;
  shape.sides = 3;
  long a = 0;
  for (int n = 2; n < 6; n++)
    a += work(plain, others, &shape, n);
  std::printf("%ld\n", a);
  return 0;
}
END
entered=('twice .x=2. at .*pointer.cpp:5$' '^5.' ' work .*pointer.cpp:22$' ' main ' '^6.' '^23.' '^24.'
  'Shape::area .this=0x[0-9a-f]+, k=2. at .*pointer.cpp:11$' 'Value returned is .* = 6' '^25.'
  'mixed .f=1.5, n=2, d=0.5. at .*pointer.cpp:16$' '^#0 .*mixed ' ' work .*pointer.cpp:25$' ' main ' '^26.'
  'thrice .x=2. at .*pointer.cpp:31' '^27.' '^22.' '^23.' '^24.' '^25.' '^26.' '^27.' '^156$' 'exited normally')
ways=("bfd" "lld" "bfd -no-pie" "lld -no-pie" "lld -gsplit-dwarf" "bfd -shared" "lld -shared")
for way in "${ways[@]}"; do
  read -r linker option <<<"$way"
  output=pointer
  [ "$option" = -shared ] && output=libpointer.so option="-shared -fPIC -Dmain=program"
  # shellcheck disable=SC2086 # It may be no word, or several.
  "$flick_cxx" -O0 -g $option -fuse-ld=$linker pointer.cpp opaque.o -o $output || exit 1
  if [ $output = libpointer.so ]; then
    echo 'int _Z7programv(void); int main(void) { return _Z7programv(); }' >main.c
    clang-19 main.c ./libpointer.so -o pointer || exit 1
  fi
  timeout 120 gdb -nx -batch -iex 'set auto-load off' -iex 'set breakpoint pending on' -ex 'break pointer.cpp:22' -ex run \
    -ex step -ex bt -ex step -ex 'tbreak 23' -ex continue -ex step -ex step -ex finish -ex 'tbreak 25' -ex continue -ex step -ex bt \
    -ex 'tbreak 26' -ex continue -ex step -ex 'tbreak 27' -ex continue -ex continue \
    -ex next -ex next -ex next -ex next -ex next -ex delete -ex continue ./pointer >log 2>&1
  in_order "${entered[@]}"
  result "step through pointers from NxP code into functions of the host ($way)" $?
done
strip --strip-all -o stripped fine-dynamic
timeout 120 "$flick" gdb -nx -batch -ex 'set breakpoint pending on' -ex 'break write' \
  -ex run -ex 'info flick' ./stripped >log 2>&1
in_order 'image 0x.*functions'
result "a stripped program" $?
timeout 120 gdb -nx -batch -iex 'set auto-load off' -ex 'set breakpoint pending on' -ex 'break fine.c:6' -ex run -ex bt \
  ./stripped >log 2>&1
if [ "$translate" = link ]; then ! grep fine.c:7 log; else in_order 'fine.c:6' '^#. .*outer .x=.* at fine.c:7'; fi
result "lines of a stripped program ($translate)" $?
# A library that comes, goes, and comes to another place.
cat >library.c <<'END'
#include <flick.h>
FLICK_NXP __attribute__((noinline)) long in_library(long x) {
  long doubled = x * 2;
  return doubled + 1;
}
END
cat >opener.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  long sum = 0;
  for (int i = 0; i < 2; i++) {
    void *library = dlopen("./library.so", RTLD_NOW);
    long (*in_library)(long) = (long (*)(long))dlsym(library, "in_library");
    sum += in_library(20 + i);
    dlclose(library);
  }
  printf("%ld\n", sum);
  return 0;
}
END
"$flick_cc" -O0 -g -shared -fPIC library.c -o library.so && clang-19 -g opener.c -o opener || exit 1
timeout 120 gdb -nx -batch -iex 'set auto-load off' -ex 'set breakpoint pending on' -ex 'break library.c:4' -ex run -ex bt \
  -ex 'print doubled' -ex 'info symbol $pc' -ex continue -ex bt -ex 'print doubled' -ex 'info symbol $pc' -ex continue \
  ./opener >log 2>&1
in_order 'in_library .x=20. at library.c:4' '^#0 .*in_library .x=20.' ' main .. at opener.c:8' '^.1 = 40$' '^in_library.nxp' \
  'in_library .x=21. at library.c:4' ' main .. at opener.c:8' '^.2 = 42$' '^in_library.nxp' '^84$' 'exited normally' &&
  ! grep 'Error removing' log
result "a library that is opened twice" $?
# A debugger that comes later.
cat >endless.c <<'END'
#include <flick.h>
static volatile long goes_on = 1;
FLICK_NXP __attribute__((noinline)) long turn(long n) {
  long next = n + 1;
  return next;
}
int main(void) {
  long n = 0;
  while (goes_on) n = turn(n);
  return n == 0;
}
END
"$flick_cc" -O0 -g endless.c -o endless || exit 1
FLICK_GDB=on ./endless &
endless=$!
sleep 0.5
timeout 120 gdb -nx -batch -iex 'set auto-load off' -p $endless -ex 'break endless.c:5' -ex continue -ex bt -ex 'info symbol $pc' \
  -ex 'print next - n' -ex 'info proc mappings' -ex 'set var goes_on = 0' -ex delete -ex continue >log 2>&1
in_order 'turn .n=.*. at endless.c:5' '^#0 .*turn ' ' main .. at endless.c:9' '^turn.nxp' '^.1 = 1$' 'exited normally' &&
  ! grep -E ' rwxp|rwxs' log
result "a debugger that comes later (FLICK_GDB=on)" $?
kill $endless 2>/dev/null
wait $endless
if [ "$translate" = run ]; then
  # What gdb is not told of.
  loads() { # NAME WANTED COMMAND...
    local name=$1 wanted=$2
    shift 2
    timeout 120 "$@" >log 2>&1
    grep -q libflick-debug log
    [ $? = "$wanted" ]
    result "$name" $?
  }
  by_gdb=(gdb -nx -batch -iex 'set auto-load off' -ex 'break main' -ex run -ex 'info sharedlibrary')
  loads "a program in gdb loads libflick-debug.so" 0 "${by_gdb[@]}" ./endless
  loads "with FLICK_GDB=off it does not" 1 env FLICK_GDB=off "${by_gdb[@]}" ./endless
  loads "nor with an interpreter" 1 env FLICK_ENGINE=interp "${by_gdb[@]}" ./endless
  cat >maps.c <<'END'
#include <flick.h>
#include <stdio.h>
FLICK_NXP __attribute__((noinline)) int next(int x) { return x + 1; }
int main(void) {
  char line[4096];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) fputs(line, stdout);
  return next(0) != 1;
}
END
  "$flick_cc" -g maps.c -o maps && "$flick_cc" -g -static maps.c -o maps-static || exit 1
  loads "nor without a debugger" 1 ./maps
  FLICK_GDB=on ./maps-static >log 2>&1 && in_order 'FLK0407.*a static program loads no library'
  result "a static program says that gdb does not know its code" $?
  FLICK_GDB=on FLICK_STATS=$work/record ./maps >log 2>&1 && in_order 'FLK0407.*counted'
  result "so does one whose calls are counted" $?
  # The link's translation is for another runtime.
  "$build/bin/flick-cc" -O1 -g lines.c -o other && python3 - other <<'END'
import re, struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
# The record of a translation: the number of the agreement, and its own size.
places = [m.start() for m in re.finditer(re.escape(struct.pack("<II", 3, 128)), data) if m.start() % 8 == 0]
assert len(places) == 1, places
data[places[0]] = 77
open(sys.argv[1], "wb").write(data)
END
  timeout 120 gdb -nx -batch -iex 'set auto-load off' -ex 'break lines.c:14' -ex run -ex bt -ex next \
    -ex 'info symbol $pc' -ex continue ./other >log 2>&1
  in_order 'work .x=.* at lines.c:14' '^#0 .*work ' ' main ' '^15\t' '^work.nxp.* <in-memory@' 'exited normally'
  result "code in place of a translation that does not fit" $?
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]

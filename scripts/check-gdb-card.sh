#!/bin/bash
# Checks gdb and perf's map with FLICK_BACKEND=card (docs/card.md, "Debuggers"): breakpoints, steps, frames
# and variables of code on harts, across ends of budgets and calls of the host, with several threads. It
# needs a built tree with the card's kernel, and prints `ok` or `FAIL` for each check.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
[ -e "$build/lib/flick/card/kernel-host.elf" ] || skip_tests "no kernel-host.elf (make says why)"
command -v gdb >/dev/null || skip_tests "there is no gdb"
gdb -batch -ex 'python print(1)' 2>/dev/null | grep -qx 1 || skip_tests "this gdb has no Python"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
ulimit -f 1000000
export FLICK_BACKEND=card
passed=0 failed=0
# Two threads on harts, in code that takes several budgets.
cat >long.c <<'END'
#include <flick.h>
#include <pthread.h>
#include <stdio.h>
static volatile long host_calls;
FLICK_HOST __attribute__((noinline)) long on_host(long x) {
  host_calls++;
  return x;
}
FLICK_NXP __attribute__((noinline)) long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
FLICK_NXP __attribute__((noinline)) long deep(long n, long k) {
  if (n == 0) {
    long a = fib(k);
    long b = on_host(a);
    return a + b;
  }
  long c = deep(n - 1, k);
  return c + n;
}
FLICK_NXP __attribute__((noinline)) long outer(long n) {
  long a = deep(3, n);
  long b = fib(n);
  return a + b;
}
static void *run(void *at) {
  long *n = at;
  *n = outer(*n);
  return NULL;
}
int main(void) {
  pthread_t other;
  long a = 24, b = 25;
  pthread_create(&other, NULL, run, &b);
  run(&a);
  pthread_join(other, NULL);
  printf("%ld %ld\n", a, b);
  return 0;
}
END
# Loops, each round of which comes to a breakpoint.
cat >loop.c <<'END'
#include <flick.h>
#include <stdio.h>
FLICK_NXP __attribute__((noinline)) long inner(long n) { return n * 3 + 1; }
FLICK_NXP __attribute__((noinline)) long work(long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) {
    for (long k = 0; k < 20000; k++)
      sum += k ^ i;
    sum = inner(sum);
  }
  return sum;
}
int main(void) {
  printf("%ld\n", work(100));
  return 0;
}
END
cat >signals.c <<'END'
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile long ticks;
static void on_tick(int s) { ticks += s != 0; }
static volatile long y;
FLICK_HOST __attribute__((noinline)) long twice(long x) {
  y = x * 2;
  return y;
}
FLICK_NXP __attribute__((noinline)) long work(long n) {
  long a = twice(n);
  a += twice(a);
  a++;
  for (long i = 0; i < 30000000; i++)
    a ^= i * a;
  return a;
}
int main(void) {
  struct itimerval soon = {{0, 3000}, {0, 3000}};
  signal(SIGALRM, on_tick);
  setitimer(ITIMER_REAL, &soon, NULL);
  long a = work(5);
  long b = work(5);
  printf("%ld %d\n", a - b, ticks > 3);
  return 0;
}
END
cat >crash.c <<'END'
#include <flick.h>
FLICK_NXP __attribute__((noinline)) int inner(volatile int *p) { return *p; }
FLICK_NXP __attribute__((noinline)) int outer(volatile int *p) { return inner(p) + 1; }
int main(void) {
  int a = outer(0);
  return a + 1;
}
END
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
# Calls through pointers.
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
using Plain = int (*)(int);
FLICK_NXP __attribute__((noinline)) long work(Plain *plain, Shape *shape, int x) {
  long a = plain[0](x);
  a += plain[1](x);
  a += shape->area(x);
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
  Shape shape;
  shape.sides = 3;
  long a = 0;
  for (int n = 2; n < 6; n++)
    a += work(plain, &shape, n);
  std::printf("%ld\n", a);
  return 0;
}
END
echo 'int opaque(int x) { return x + 1; }' >opaque.c && clang-19 -fPIC -c opaque.c || exit 1
for level in O0 O2; do "$flick_cxx" -$level -g pointer.cpp opaque.o -o pointer-$level || exit 1; done
for program in long loop; do
  for level in O0 O2; do "$flick_cc" -$level -g $program.c -o $program-$level -lpthread || exit 1; done
done
"$flick_cc" -O0 -g signals.c -o signals && "$flick_cc" -O1 -g crash.c -o crash && "$flick_cc" -O0 -g endless.c -o endless || exit 1
if ! gdb -nx -batch -ex run ./loop-O2 2>&1 | grep 'exited normally' >/dev/null; then
  skip_tests "gdb cannot start a program here (ptrace)"
fi
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
result_log=log
for program in long loop; do
  for level in O0 O2; do
    diff <(./$program-$level) <(FLICK_GDB=on ./$program-$level) >log
    result "code for debuggers computes the same ($program, -$level)" $?
  done
done
# `next` over calls that take several budgets, while another thread has the harts; `finish`.
in_deep=('deep .NxP. .n=0, k=24.' 'deep .NxP. .n=1, k=24.' 'deep .NxP. .n=2' 'deep .NxP. .n=3' 'outer .NxP. .n=24.' ' run .at=' ' main ')
with_script ./long-O0 -ex 'break main' -ex run -ex 'break long.c:12 thread 1' -ex continue -ex next -ex bt -ex 'print a' \
  -ex 'flick-nxp threads' -ex next -ex bt -ex 'print b' -ex next -ex next -ex finish -ex finish -ex finish -ex next -ex next -ex 'print b' \
  -ex delete -ex continue
in_order '^13' "${in_deep[@]}" '^.1 = 46368' '[*] 1 .*deep .NxP. at .*long.c:13, on hart [0-9]' '^14' "${in_deep[@]}" '^.2 = 46368' \
  'Value returned is .* = 92737' 'Value returned is .* = 92739' 'outer .n=24. at long.c:20' 'Value returned is .* = 92742' '^22' '^.6 = 46368' \
  '^139110 225081' 'exited normally'
result "next and finish over ends of budgets" $?
# Frames under a host function, with their variables.
with_script ./long-O0 -ex 'break main' -ex run -ex 'break on_host thread 1' -ex continue -ex bt -ex 'frame function deep' -ex 'info locals' \
  -ex 'info args' -ex 'info flick' -ex 'frame 0' -ex finish -ex bt -ex delete -ex continue
in_order 'on_host .x=46368. at long.c:6' '^#0 .*on_host ' "${in_deep[@]}" '^a = 46368' '^n = 0' 'crossings of this thread: 1' 'gate of outer, in a host function, tile nxp' \
  'Value returned is .* = 46368' "${in_deep[@]}" '^139110 225081' 'exited normally'
result "frames and variables under a host function" $?
with_script ./long-O2 -ex 'break main' -ex run -ex 'break on_host thread 1' -ex continue -ex bt -ex delete -ex continue
in_order '^#0 .*on_host .x=46368.' 'outer .NxP. ' ' main ' '^139110 225081' 'exited normally'
result "frames under a host function in optimised code" $?
# No round is left out, wherever budgets end.
for level in O0 O2; do
  with_script ./loop-$level -ex 'break inner' -ex 'ignore 1 1000000' -ex run -ex 'info breakpoints'
  in_order 'exited normally' 'breakpoint already hit 1(0[0-9]|1[0-9]) times'
  result "a breakpoint in each round (-$level)" $?
done
with_script ./loop-O0 -ex 'break loop.c:9 if i == 57' -ex run -ex 'info locals' -ex step -ex bt -ex finish -ex 'tbreak 11' -ex continue \
  -ex 'info symbol $pc' -ex finish -ex finish -ex next -ex continue
in_order 'work .n=100. at loop.c:9' '^i = 57' 'inner .n=' '^#0 .*inner .NxP. ' '^#1 .*work .NxP. .n=100. at loop.c:9' 'Value returned' \
  'work .n=100. at loop.c:11' '^work.nxp' ' main .. at loop.c:14' 'exited normally'
result "a condition, step and finish" $?
# From NxP code into a host function and back, while signals come.
with_script ./signals -ex 'handle SIGALRM nostop noprint pass' -ex 'break signals.c:13' -ex run -ex step -ex bt -ex finish -ex finish -ex next \
  -ex 'tbreak 16' -ex continue -ex 'break on_tick' -ex continue -ex bt -ex 'flick-nxp threads' -ex delete -ex continue
in_order 'work .n=5. at signals.c:13' 'twice .x=5. at signals.c:9' '^#0 .*twice ' 'work .NxP. .n=5. at signals.c:13' ' main ' 'Value returned is .* = 10' \
  'work .n=5. at signals.c:13' '^14' 'work .n=5. at signals.c:16' '^#0 .*on_tick ' 'signal handler called' 'work .NxP. .n=5. at signals.c:1[67]' ' main ' \
  'work .NxP. at signals.c:1[67], on hart [0-9]' '^0 1$' 'exited normally'
result "step into a host function, and signals in NxP code" $?
# Through pointers `step` enters functions of the host that have lines, static ones too, and functions of
# the NxP; `next` enters none.
diff <(./pointer-O2) <(FLICK_GDB=on ./pointer-O2) >log
result "stubs of pointers compute the same" $?
with_script ./pointer-O0 -iex 'set breakpoint pending on' -ex 'break pointer.cpp:17' -ex run -ex step -ex bt -ex finish -ex 'tbreak 18' \
  -ex continue -ex step -ex step -ex finish -ex 'tbreak 20' -ex continue -ex step -ex bt -ex 'tbreak 21' -ex continue -ex continue \
  -ex next -ex next -ex next -ex next -ex delete -ex continue
in_order ' at pointer.cpp:17$' 'twice .x=2. at .*pointer.cpp:5$' '^#0 .*twice' ' work.* .NxP. .*pointer.cpp:17$' ' main' '^18' '^19' \
  'Shape::area .this=0x[0-9a-f]+, k=2. at .*pointer.cpp:11$' 'Value returned is .* = 6' '^20' 'thrice .x=2. at .*pointer.cpp:25' \
  '^#0 .*thrice.* .NxP. ' ' work.* .NxP. .*pointer.cpp:20$' ' main' '^21' '^17' '^18' '^19' '^20' '^21' '^134$' 'exited normally'
result "step through pointers" $?
# From host code `step` enters functions of the NxP, by name and through pointers, and those of a library with
# the same name; `next` enters none, and another thread that runs them does not stop.
cat >enter.cpp <<'END'
#include <atomic>
#include <cstdio>
#include <flick.h>
#include <thread>
static FLICK_NXP __attribute__((noinline)) int inner(int x) {
  volatile int r = x + 1;
  return r;
}
FLICK_NXP __attribute__((noinline)) int outer(int x) {
  int a = inner(x);
  return a * 2;
}
extern int in_library(int x);
static std::atomic<bool> ends;
static FLICK_HOST __attribute__((noinline)) int calls() {
  int (*volatile pointer)(int) = outer;
  int a = outer(3);
  int b = pointer(a);
  int c = inner(b);
  int d = in_library(c);
  return a + b + c + d;
}
int main() {
  std::thread other([] { while (!ends) outer(100); });
  int all = calls();
  all += calls();
  ends = true;
  other.join();
  std::printf("%d\n", all);
  return 0;
}
END
cat >library.cpp <<'END'
#include <flick.h>
static FLICK_NXP __attribute__((noinline)) int inner(int x) {
  volatile int r = x + 5;
  return r;
}
FLICK_HOST int in_library(int x) {
  int a = inner(x);
  return a;
}
END
for option in "-O0" "-O0 --flick-translate=run"; do
  # shellcheck disable=SC2086 # It may be two words.
  "$flick_cxx" $option -g -shared -fPIC library.cpp -o library.so &&
    "$flick_cxx" $option -g enter.cpp ./library.so -o enter -pthread || exit 1
  for backend in card inline; do
    FLICK_BACKEND=$backend with_script ./enter -ex 'break enter.cpp:17' -ex run -ex step -ex bt -ex 'tbreak 18' -ex continue \
      -ex step -ex 'info symbol $pc' -ex 'tbreak 19' -ex continue -ex step -ex bt -ex 'tbreak 20' -ex continue -ex step -ex step \
      -ex bt -ex 'tbreak library.cpp:8' -ex continue -ex 'tbreak enter.cpp:21' -ex continue -ex continue -ex next -ex next -ex next \
      -ex next -ex delete -ex continue
    in_order 'calls.* at enter.cpp:17$' 'outer .x=3. at .*enter.cpp:10$' '^#0 .*outer.* .NxP. .x=3. ' '^#.* calls.* at enter.cpp:17' ' at enter.cpp:18$' \
      'outer .x=8. at .*enter.cpp:10$' '^_Z5outeri.nxp|^outer.* .clone .nxp' ' at enter.cpp:19$' 'inner .x=18. at .*enter.cpp:6$' \
      '^#0 .*inner.* .NxP. .x=18. ' ' calls.* at enter.cpp:19' ' at enter.cpp:20$' 'in_library .x=19. at .*library.cpp:7' \
      'inner .x=19. at .*library.cpp:3' '^#0 .*inner.* .NxP. .x=19. ' ' in_library.* at library.cpp:7' 'library.cpp:8' ' at enter.cpp:21$' \
      ' at enter.cpp:17$' '^18' '^19' '^20' '^21' '^138$' 'exited normally' && ! grep -q flick-gates log
    result "step from host code into NxP functions ($option, $backend)" $?
  done
done
timeout 120 gdb -nx -batch -iex 'set auto-load off' -iex 'set breakpoint pending on' -ex 'break loop.c:9' -ex run -ex bt -ex 'info locals' -ex delete \
  -ex continue ./loop-O0 >log 2>&1
in_order 'work .n=100. at loop.c:9' '^#0 .*work .n=100.' ' main ' '^i = 0' 'exited normally'
result "a gdb without the script" $?
with_script ./crash -ex run -ex bt -ex 'info flick' -ex 'flick-nxp registers' -ex 'generate-core-file core' -ex kill
in_order SIGSEGV '^#0 .*inner .NxP. .*crash.c:2' '^#1 .*outer .NxP. .*crash.c:3' ' main ' 'gate of outer, in NxP code, on hart [0-9]' '^pc .*<inner>' '^a0 +0x0+ '
result "a fault in NxP code" $?
timeout 120 "$flick" gdb -nx -batch -ex bt -ex 'info flick' ./crash core >log 2>&1
in_order 'inner .NxP. .*crash.c:2' 'outer .NxP. .*crash.c:3' ' main ' 'gate of outer, in NxP code'
result "a fault in NxP code, in a core file" $?
FLICK_GDB=on ./endless &
endless=$!
sleep 0.5
timeout 120 gdb -nx -batch -iex 'set auto-load off' -p $endless -ex 'break endless.c:5' -ex continue -ex bt -ex 'print next - n' \
  -ex 'set var goes_on = 0' -ex delete -ex continue >log 2>&1
in_order 'turn .n=.*. at endless.c:5' '^#0 .*turn ' ' main .. at endless.c:9' '^.1 = 1$' 'exited normally'
result "a debugger that comes later (FLICK_GDB=on)" $?
kill $endless 2>/dev/null
wait $endless
timeout 120 env FLICK_GDB=off gdb -nx -batch -iex 'set auto-load off' -ex 'break main' -ex run -ex 'info sharedlibrary' ./loop-O0 >log 2>&1
! grep -q libflick-debug log
result "with FLICK_GDB=off there is no such code" $?
# All names of lent code, in lines as perf reads them.
FLICK_PERF=map ./long-O2 >log & wait $!
map=/tmp/perf-$!.map
cp "$map" log && in_order ' fib.* .NxP.$' && ! grep -Evq '^[0-9a-f]+ [0-9a-f]+ [^ ]+ \[NxP\]$' log
result "names in perf's map" $?
rm -f "$map"
echo "$passed passed, $failed failed"
[ $failed = 0 ]

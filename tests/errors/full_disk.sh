# A disk without room: every tool says so, ends with an error, and leaves no half of a file. A limit
# on the size of files, with its signal ignored, refuses what is written as a full disk does. The
# command itself is not ended by the signal either.
. "$FLICK_TEST_ERRORS/lib.sh"
# within KIB COMMAND...: no file grows beyond so much.
within() {
  bash -c 'trap "" XFSZ; ulimit -f "$1"; shift; exec "$@"' within "$@"
}
limited() {
  bash -c 'ulimit -f "$1"; shift; exec "$@"' limited "$@"
}
cat >main.c <<'C'
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
FLICK_NXP long add(long a, long b) { return a + b; }
int main(int argc, char **argv) {
  long sum = 0, calls = argc > 1 ? atol(argv[1]) : 10;
  for (long i = 0; i < calls; i++)
    sum = add(sum, i);
  printf("%ld\n", sum);
  return 0;
}
C
"$cc" -O1 -g --flick-timed main.c -o prog
export FLICK_PLATFORM=flick-isca20

# The runtime: one message however many blocks are lost, the program goes on, other records stay
# whole.
status 0 within 64 env FLICK_TRACE="$PWD/trace" ./prog 200000
has out 19999900000
has err '[FLK0105] the trace cannot be written: file too large'
[ "$(grep -c warning: err)" = 1 ] || die "$(cat err)"
status 0 env FLICK_TRACE=/dev/full FLICK_STATS="$PWD/full" ./prog
has err '[FLK0105] the trace cannot be written: no space left on device'
has full 'trace-lost No space left on device'
status 0 env FLICK_STATS="$PWD/records" ./prog
for round in $(seq 40); do
  within 4 env FLICK_STATS="$PWD/records" ./prog >out 2>err
  [ ! -s err ] || break
done
has err '[FLK0105] the statistics cannot be written'
[ "$(tail -n 1 records)" = end ] || die "half a record: $(tail -n 3 records)"
status 0 env FLICK_STATS=/dev/full ./prog
has err '[FLK0105] the statistics cannot be written'

# flick record: the reason, and neither half a trace nor a page of it.
refuses FLK0105 'the trace could not be written to its end: flick.data: File too large' -- \
  within 64 "$flick" record ./prog 200000
[ ! -e flick.data ] || die 'half a trace'
[ -z "$(find . -name '.flick-*')" ] || die "left over: $(ls -A)"
# Not even the record of the run had room, which says why there is no trace.
refuses FLK0105 'the record of the run cannot be written' TMPDIR -- within 1 "$flick" record ./prog
[ ! -e flick.data ] || die 'an empty trace'
refuses FLK0105 'is no regular file' -- "$flick" record -o /dev/full ./prog
status 0 "$flick" record ./prog 2000
cp flick.data earlier
# The earlier trace stays.
refuses FLK0105 'the trace could not be written to its end' -- within 64 "$flick" record ./prog 200000
cmp flick.data earlier
refuses FLK0105 /dev/full -- "$flick" record --perfetto /dev/full ./prog 2000

# flick report: the earlier page stays.
status 0 "$flick" report
cp report.html before
refuses FLK0105 report.html -- within 16 "$flick" report
cmp report.html before
refuses FLK0105 report.html -- limited 16 "$flick" report
cmp report.html before
[ -z "$(find . -name '.flick-*')" ] || die "left over: $(ls -A)"
refuses FLK0105 page.html -- within 16 "$flick" report -o page.html
[ ! -e page.html ] || die 'half a page'
refuses FLK0105 p.pftrace -- within 8 "$flick" report -o - --perfetto p.pftrace
[ ! -e p.pftrace ] || die 'half a trace for Perfetto'
refuses FLK0105 /dev/full -- "$flick" report -o /dev/full

# flick stat and flick advise.
refuses FLK0105 /dev/full -- "$flick" stat -o /dev/full ./prog
refuses FLK0105 'the record of the run cannot be written' -- within 1 "$flick" stat ./prog
refuses FLK0105 'the record of the run cannot be written' -- within 1 "$flick" advise ./prog
# The program that the command starts has the default action again.
status $((128 + $(kill -l XFSZ))) limited 64 "$flick" stat -o /dev/null bash -c 'head -c 1000000 /dev/zero >own; exit $?'
refuses FLK0105 /dev/full -- "$flick" advise -o /dev/full ./prog 2000
[ -z "$(find . -name '.flick-*')" ] || die "left over: $(ls -A)"

# What goes to standard output.
full() { "$@" >/dev/full; }
for words in 'place --explain prog' 'objdump -d prog' 'objdump -S prog' 'verify prog' 'explain' 'explain FLK0105' 'config' \
  'config --json' 'doctor' '--help' '--version' 'stat --help' 'report -o -'; do
  refuses FLK0105 'standard output' -- full "$flick" $words
done
# The compiler's own output, and what Flick adds to it.

echo 'nxp add' >some.place
refuses FLK0105 main.i -- within 1 "$cc" -E --flick-place=some.place main.c -o main.i
[ ! -e main.i ] || die 'half a preprocessed file'

# Traces of timed runs on a card (docs/card.md, "Traces"): their sums are those of the record. Included by run.sh
# behind card_threads.sh, whose program and machines it takes.

# share NAME: picoseconds of this part of the time, in the record
share() { sed -n "s/^timed-share migrating \([0-9]*\) $1\$/\1/p" "$folder/record"; }

# of_trace KEY: a sum of the trace
of_trace() { sed -n "s/^$1 \([0-9]*\)\$/\1/p" "$folder/sums"; }

# is_sum SUM PARTS…: within a picosecond for each of some thousand events
is_sum() {
  local sum=${1:-0} all=0 part
  shift
  for part; do all=$((all + part)); done
  [ $((sum - all)) -lt 20000 ] && [ $((all - sum)) -lt 20000 ]
}

# trace_of HARTS FORM THREADS: runs it with a record and a trace, of which this has the sums
trace_of() {
  rm -f "$folder/trace"
  FLICK_TRACE=$folder/trace run_on "$1" "$folder/record" card_threads "$2" "$3" >"$folder/output" || return 1
  python3 "$here/trace_sums.py" "$folder/trace" >"$folder/sums"
}

traces_have_the_sums() {
  local row harts
  trace_of "$@" || return 1
  is_sum "$(of_trace to)" "$(share 'crossings: to the code on the card')" || return 1
  is_sum "$(of_trace from)" "$(share 'crossings: from the code on the card')" || return 1
  is_sum "$(of_trace waits)" "$(share 'waiting for an NxP core')" || return 1
  # The harts have executed all NxP code, and nothing else.
  harts=$(sed -n 's/^code on [0-9]* //p' "$folder/sums" | paste -sd+ | bc)
  # shellcheck disable=SC2046 # Each part is a word.
  is_sum "$harts" $(sed -n 's/^timed-share migrating \([0-9]*\) NxP .*/\1/p' "$folder/record") || return 1
  # Each function began as often on each hart.
  diff <(sed -n 's/^card-ran \([0-9]*\) [0-9]* [0-9]* \([0-9]*\) \([^\t]*\).*/calls on \1 of \3 \2/p' "$folder/record" | grep -v ' 0$' | sort) \
    <(grep '^calls on' "$folder/sums" | sort)
}

# shown HARTS THREADS: the page has a row of the table and a lane for each hart, and threads in both
shown() {
  "$flick" report -i "$folder/trace" -o "$folder/page.html" --perfetto "$folder/page.pftrace" >/dev/null || return 1
  [ "$(grep -c '^<tr><th scope="row">.*hart' "$folder/page.html")" -ge "$1" ] &&
    [ "$(grep -c '^<div class="lane"><span>[^<]*hart' "$folder/page.html")" = "$1" ] &&
    [ "$(grep '^<div class="lane"><span>[^<]*hart' "$folder/page.html" | grep -o '<title>thread [^<]*' | sort -u | wc -l)" = "$2" ] &&
    ! grep '^<div class="lane"><span>[^<]*hart' "$folder/page.html" | grep -q '<title>?' &&
    grep -aq 'to a hart of the card' "$folder/page.pftrace"
}

if [ -e "$build/lib/flick/card/kernel-host.elf" ]; then
  for way in "1 calls 2" "2 calls 4" "2 callbacks 2" "2 nested 4"; do
    read -r harts form threads <<<"$way"
    status=0
    traces_have_the_sums "$harts" "$form" "$threads" || status=$?
    result "trace of $form of $threads threads on $harts harts" "$status"
    status=0
    shown "$harts" "$threads" || status=$?
    result "its page" "$status"
  done
fi

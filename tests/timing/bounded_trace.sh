# Traces with a limit of size (docs/records.md, "Limit of size"): they stay below it, and their totals
# are those of a whole trace. The page says that it is coarser. Included by run.sh.

# calls_of TRACE: the rows of all calls that crossed, from the page
calls_of() {
  "$flick" report -i "$1" -o "$1.html" >/dev/null &&
    sed -n '/<table class="calls">/,/<\/table>/p' "$1.html" | grep '^<tr><th scope="row">'
}

# bounded LIMIT CALLS THREADS
bounded() {
  local trace=$work/bounded
  "$flick" record --platform=flick-isca20 --max-size=none -o "$trace.whole" "$work/bounded_trace" "$2" "$3" >"$work/output" 2>&1 &&
    "$flick" record --platform=flick-isca20 --max-size="$1" -o "$trace.short" "$work/bounded_trace" "$2" "$3" >>"$work/output" 2>&1 ||
    return 1
  [ "$(stat -c %s "$trace.whole")" -gt $((2 * $1)) ] && [ "$(stat -c %s "$trace.short")" -le "$1" ] || return 1
  calls_of "$trace.whole" >"$trace.whole.calls" || return 1
  calls_of "$trace.short" >"$trace.short.calls" || return 1
  # add, twice and seen.
  [ "$(wc -l <"$trace.whole.calls")" = 3 ] || return 1
  diff "$trace.whole.calls" "$trace.short.calls" || return 1
  grep -q 'the trace has sums of intervals' "$trace.short.html" && ! grep -q 'the trace has sums of intervals' "$trace.whole.html"
}

"$flick_cc" -O1 -g -Wall -Werror --flick-timed "$here/bounded_trace.c" -o "$work/bounded_trace"
status=0
bounded $((1 << 18)) 20000 0 || status=$?
result "a long run's trace has a limit" "$status"
status=0
bounded $((1 << 18)) 30 1500 || status=$?
result "and so has that of many threads" "$status"
# A reader needs memory for the page: eight times as much address space as that took.
status=0
(ulimit -v 100000 && "$flick" report -i "$work/bounded.whole" -o "$work/bounded.html") >"$work/output" 2>&1 || status=$?
result "a report in little memory" "$status"

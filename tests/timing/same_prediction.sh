# Predictions of runs, idle and on a loaded machine. Included by the scripts that compare them.

# prediction_of PROGRAM ARGUMENTS…: the lines of the record, which must say that they are exact
prediction_of() {
  rm -f "$work/record"
  FLICK_STATS=$work/record FLICK_PLATFORM=$platform timeout 300 "$@" >"$work/output" || return 1
  ! grep '^timed-not-exact' "$work/record" && grep -q '^timed-ordered 1$' "$work/record" || return 1
  grep '^timed-' "$work/record"
}

# same RUNS PROGRAM ARGUMENTS…
same() {
  local runs=$1
  shift
  prediction_of "$@" >"$work/first" || return 1
  for ((run = 1; run < runs; run++)); do
    prediction_of "$@" >"$work/again" && cmp -s "$work/first" "$work/again" || return 1
  done
}

idle() { "$@"; }

loaded() {
  local load status=0
  (while :; do :; done) &
  load=$!
  (while :; do :; done) &
  load="$load $!"
  "$@" || status=$?
  kill $load
  wait $load 2>/dev/null || true
  return "$status"
}

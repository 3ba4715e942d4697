# What is exact in virtual time, and what the record names where it is not. Included by run.sh.

# says FORM CALL: the form ends well, and the call is what its record names; `exact`: none.
says() {
  local named
  rm -f "$work/record"
  FLICK_STATS=$work/record FLICK_PLATFORM=near-memory timeout 60 "$work/not_exact" "$1" >"$work/output" || return 1
  named=$(sed -n 's/^timed-not-exact \([^\t]*\).*/\1/p' "$work/record")
  grep -q '^timed-ordered 1$' "$work/record" || return 1
  if [ "$2" = exact ]; then [ -z "$named" ]; else grep -q -- "$2" <<<"$named"; fi || {
    echo "not exact: $named" >>"$work/output"
    return 1
  }
}

for link in -pie -static; do
  [ $link = -pie ] && code=-fPIE || code=-fno-pie
  "$flick_cc" -O2 -Wall -Werror --flick-timed $code $link "$here/not_exact.c" -o "$work/not_exact" -pthread
  while read -r form call; do
    # Five seconds.
    [ "$link $form" != '-static busy' ] || continue
    clock=virtual status=0
    case $form in real-*) clock=real ;; esac
    FLICK_CLOCK=$clock says "$form" "$call" || status=$?
    result "$link, $form: ${call//\\/}" "$status"
    [ "$status" = 0 ] || cat "$work/output"
  done <<'END'
cancelled exact
futexes exact
c11 exact
quiet exact
sleep exact
unset-alarm exact
asleep recv
busy code without a stated point
handler sem_post in a signal handler
shared pthread_mutex_lock
outside read
real-clock pthread_cond_timedwait
profiles exact
thread-of-timer timer_settime
real-alarm ualarm
END
done

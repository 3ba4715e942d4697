# Timers in virtual time: when they expire, what their signals interrupt, and that it is exact and the
# same again. Included by run.sh.
for link in -pie -static; do
  [ $link = -pie ] && code=-fPIE || code=-fno-pie
  "$flick_cc" -O2 -Wall -Werror --flick-timed $code $link "$here/timers.c" -o "$work/timers" -pthread
  for form in spins pauses sleeps intervals posix threads waits data files jumps; do
    status=0
    platform=near-memory same 2 "$work/timers" "$form" || status=$?
    result "$link, timers: $form" "$status"
    [ "$status" = 0 ] || cat "$work/output"
  done
done

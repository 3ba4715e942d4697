# Timers in virtual time, and signals that are waited for: when they come, what they interrupt, and that
# it is exact and the same again. Included by run.sh.

# same_alone PROGRAM ARGUMENTS…: the same prediction twice, without an order
same_alone() {
  local run
  for run in first again; do
    rm -f "$work/record"
    FLICK_STATS=$work/record FLICK_PLATFORM=$platform timeout 60 "$@" >"$work/output" || return 1
    ! grep '^timed-not-exact' "$work/record" || return 1
    grep '^timed-' "$work/record" >"$work/$run"
  done
  cmp -s "$work/first" "$work/again"
}

for link in -pie -static; do
  [ $link = -pie ] && code=-fPIE || code=-fno-pie
  while read -r program forms; do
    "$flick_cc" -O2 -Wall -Werror --flick-timed $code $link "$here/$program.c" -o "$work/$program" -pthread
    for form in $forms; do
      status=0
      platform=near-memory same 2 "$work/$program" "$form" || status=$?
      result "$link, $program: $form" "$status"
      [ "$status" = 0 ] || cat "$work/output"
    done
  done <<'END'
timers spins pauses sleeps intervals posix threads waits data files jumps
processor_timers clocks profiles virtual threads sleeps
awaited_signals suspends waits threads files blocked handlers
kept_timers execve execv execvp execvpe execl execlp execle fexecve execveat fails forks exec-files files-stay
END
  # One thread, and no order.
  "$flick_cc" -O2 -Wall -Werror --flick-timed $code $link "$here/one_thread.c" -o "$work/one_thread"
  for form in rests masks files data usage; do
    status=0
    platform=near-memory same_alone "$work/one_thread" "$form" || status=$?
    result "$link, one_thread: $form" "$status"
    [ "$status" = 0 ] || cat "$work/output"
  done
  # What ends first is not the order's.
  rm -f "$work/record"
  status=0
  FLICK_STATS=$work/record FLICK_PLATFORM=near-memory timeout 60 "$work/one_thread" race &&
    grep -q '^timed-not-exact poll or select with a time limit' "$work/record" || status=$?
  result "$link, one_thread: race" "$status"
  # The shell is not timed, and gets its alarm from the machine.
  status=0
  FLICK_PLATFORM=near-memory timeout 30 "$work/kept_timers" plainly || status=$?
  result "$link, kept_timers: plainly" "$status"
done

# The same on the machine's clocks, by clang, with shorter times.
while read -r program forms; do
  clang-19 -O2 -Wall -Werror -DPLAIN "$here/$program.c" -o "$work/$program-plain" -pthread
  for form in $forms; do
    status=0
    timeout 60 "$work/$program-plain" "$form" || status=$?
    result "plain $program: $form" "$status"
  done
done <<'END'
processor_timers clocks profiles virtual threads sleeps
awaited_signals suspends waits threads files blocked handlers
kept_timers execve execl execle execlp fails plainly forks exec-files files-stay
one_thread rests masks files data usage
END

# The alarm of a program that is not timed stays the machine's.
left_alarm() {
  rm -f "$work/record"
  NEXT=$work/processor_timers FLICK_STATS=$work/record FLICK_PLATFORM=near-memory \
    timeout 60 "$work/kept_timers-plain" leaves || return 1
  grep -q '^timed-not-exact an alarm from before exec' "$work/record"
}
status=0
left_alarm || status=$?
result "an alarm of a program that is not timed" "$status"

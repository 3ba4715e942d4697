# Threads on harts of a card, in timed runs: formulas, and the same record in each run, whatever else the machine
# does. Included by run.sh.
for program in card_threads card_odd_threads; do
  "$flick_cc" -O2 -Wall -Werror --flick-timed "$here/$program.c" -o "$work/$program" -pthread
done
folder=$work/card_threads.records
mkdir -p "$folder"

# run_on HARTS RECORD PROGRAM ARGUMENTS…
run_on() {
  local machine=flick-isca20 record=$2
  [ "$1" = 1 ] || machine=flick-isca20-harts,tile.nxp.hart.core.count=$1
  rm -f "$record"
  FLICK_STATS=$record FLICK_BACKEND=card FLICK_MACHINE=$machine FLICK_PLATFORM=flick-isca20 \
    timeout 60 "$work/$3" "${@:4}"
}

# on_harts HARTS RECORD FORM THREADS: what a run prints; its record must say that it is exact
on_harts() {
  local record=$2
  run_on "$1" "$record" card_threads "$3" "$4" || return 1
  ! grep '^timed-not-exact' "$record" && grep -q '^timed-ordered 1$' "$record"
}

forms='calls locks callbacks queue turns adds nested'

# all_on_harts PASS: each form, with as many threads as harts, and more, and fewer
all_on_harts() {
  local harts form threads name status
  for harts in 1 2 4; do
    for form in $forms; do
      for threads in 2 4 8; do
        name=$folder/$harts-$form-$threads
        status=0
        on_harts $harts "$folder/record" $form $threads >"$folder/output" || status=$?
        grep '^timed-' "$folder/record" >>"$folder/output" || status=1
        if [ "$1" = first ]; then
          mv "$folder/output" "$name"
        else
          cmp "$name" "$folder/output" || status=1
        fi
        result "$form of $threads threads on $harts harts: $1 run" "$status"
      done
    done
  done
}

# all THREADS HARTS: picoseconds until as many equal calls of a thread each have ended
all() { on_harts "$2" "$folder/record" one "$1" | tee "$folder/output" | sed -n 's/^all //p'; }

# is_about FIGURE OTHER: within one per cent
is_about() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0.99 * b && a < 1.01 * b) }'; }

# waited_for_harts THREADS ONE: the report has the time that threads have waited for the hart, of which each had
# the time ONE
waited_for_harts() {
  local waited others
  waited=$(sed -n 's/^timed-share migrating \([0-9]*\) waiting for an NxP core$/\1/p' "$folder/record")
  others=$(awk -v threads="$1" -v one="$2" '/^thread / { all += $2 } END { print all - threads * one }' "$folder/output")
  is_about "$waited" "$others"
}

threads_wait_for_harts() {
  local one of_one
  one=$(all 1 1) || return 1
  of_one=$(sed -n 's/^thread //p' "$folder/output")
  # So many equal calls on one hart take so many times the time.
  is_about "$(all 2 1)" $((2 * one)) && waited_for_harts 2 "$of_one" || return 1
  is_about "$(all 4 1)" $((4 * one)) && waited_for_harts 4 "$of_one" || return 1
  is_about "$(all 8 1)" $((8 * one)) && waited_for_harts 8 "$of_one" || return 1
  # Harts share them.
  is_about "$(all 2 2)" "$one" && is_about "$(all 4 2)" $((2 * one)) && is_about "$(all 8 2)" $((4 * one)) || return 1
  is_about "$(all 4 4)" "$one" && is_about "$(all 8 4)" $((2 * one))
}

# odd HARTS FORM OUTPUT [NOTE]: the run ends, with this output, and is exact, or not exact for this call
odd() {
  local record=$folder/record notes
  run_on "$1" "$record" card_odd_threads "$2" >"$folder/output" || return 1
  notes=$(sed -n 's/^timed-not-exact \([^\t]*\).*/\1/p' "$record")
  [ "$(tr '\n' ' ' <"$folder/output")" = "$3 " ] && [ "$notes" = "${4:-}" ]
}

odd_threads() {
  local harts
  for harts in 1 2; do
    odd $harts receives 'received 2 results 1' recv || return 1
    odd $harts crosses 'results 3 handled 1' 'a crossing in a signal handler' || return 1
    odd $harts crosses-in-order 'results 3 handled 1' || return 1
    odd $harts forks 'child 5 results 6' waitpid || odd $harts forks 'child 5 results 6' || return 1
    odd $harts leaves 'results 56' || return 1
    odd $harts itself 'handled 1 by itself 1 results 0' || return 1
    odd $harts many 'results 1400' || return 1
  done
  # The handler waits until another thread has had the one hart.
  odd 1 sleeps 'at 2 results 1'
}

if [ -e "$build/lib/flick/card/kernel-host.elf" ]; then
  status=0
  threads_wait_for_harts || status=$?
  result "waiting for harts of a card" "$status"
  status=0
  odd_threads || status=$?
  result "threads on harts of a card that sleep, fork, end and are interrupted" "$status"
  all_on_harts first
  all_on_harts second
  loaded all_on_harts loaded
fi

#!/bin/bash
# The root's kernel (docs/root.md) from the attacker's side: hostile programs and accelerators, and machines with
# faults. `run-root.sh --all` stops tiles and loses packets at each step of a chain, and not at a few.
# `run-root.sh --calls N --seed N` makes only random calls and messages, so many of each.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/card-root
source=$here/root
all='' calls='' seed=1
while [ $# -gt 0 ]; do
  case $1 in
  --all) all=1 ;;
  --calls) calls=$2 && shift ;;
  --seed) seed=$2 && shift ;;
  *) echo "run-root.sh: no option $1" >&2 && exit 2 ;;
  esac
  shift
done
mkdir -p "$work"
need kernel-root.elf libcard.a
cd "$work"
cp "$source"/*.toml "$here/random/root.toml" .

machine() { # NAME OPTION...
  timeout 120 "$flick" machine run --machine "./$1.toml" "${@:2}" </dev/null
}

# Random calls by several processes at once.
build_bare random_root_calls "$here/root/random_root_calls.c"
random() { # CALLS OPTION...
  timeout $((120 + $1 / 1000)) "$flick" machine run --machine ./root.toml "${@:2}" --firmware "$card/kernel-root.elf" \
    --initrd random_root_calls.tar --append "random_root_calls $seed $1" </dev/null 2>&1 | of_program >random.out
  echo "$1 calls" | diff - random.out
  verdict $? "$1 random calls from seed $seed on ${*:2}"
}
# Hostile programs and accelerators.
gcc -shared -fPIC -O2 -Wall -Wextra -Werror -I"$root/include" -o hostile.so "$source/hostile.c"
verdict $? "hostile functions are compiled"
for program in faulty_chain given_activity hostile_streams revoked_writer storm; do
  "$flick" card cc -O2 -Wall -Wextra -Werror -pthread -o $program "$source/$program.c"
  verdict $? "$program is compiled"
done
# Random answers and requests of the file protocol.
messages() { # COUNT
  timeout $((120 + $1 / 1000)) "$flick" machine run --machine ./hostile.toml --program hostile_streams -- "$1" "$seed" </dev/null 2>/dev/null |
    diff <(echo "$1 random messages, all ends 1, checks that fail: 0") -
  verdict $? "$1 random messages from seed $seed on"
}

if [ -n "$calls" ]; then
  begin=$SECONDS
  random "$calls"
  messages "$calls"
  echo "$calls calls and messages from seed $seed on in $((SECONDS - begin)) s"
  conclude
  exit
fi
random 20000
random 8000 --timed
random 8000 --set tile.fft.count=2 --set tile.mul.count=2
messages 20000

prints() { # PROGRAM MACHINE OPTION...
  machine "$2" "${@:3}" --program "$1" >"$1.out" 2>"$1.err"
  verdict $? "$1 ends ${*:3}"
  diff "$source/$1.expected" "$1.out"
  verdict $? "what $1 prints ${*:3}"
}
prints given_activity faulty_chain
prints hostile_streams hostile
grep -q 'has returned 4097 bytes of output for a block of 2048 bytes' hostile_streams.err
verdict $? "what is said of a hostile accelerator"
prints storm storm
prints revoked_writer slow_writer
prints revoked_writer slow_writer --timed
for options in "" "--timed"; do
  machine slow_writer ${options:+"$options"} --program revoked_writer -- view >view.out 2>view.err
  verdict $? "a view is moved while an accelerator writes to it${options:+, $options}"
  printf '%s\n' "words of what a view showed: 0" "the whole block is in what it shows: 1" | diff - view.out
  verdict $? "what comes to the memory of the view${options:+, $options}"
done

# FAULT...: a file of one fault, at the moment that `at` says.
at='time = "0 s"'
fault() {
  printf '[[fault]]\nat = { %s }\n' "$at"
  printf '%s\n' "$@"
}
# The registers of the writer's unit cannot be written for a while. Its memory is nobody else's until then.
at='tile = "copy", state = "writes"' fault 'do = "drop-message"' 'from = "root"' 'to = "copy"' 'class = "data"' \
  'packets = 14' >lost.toml
prints revoked_writer slow_writer --inject lost.toml

# A chain with a fault: what the program sees of it.
outcome= count=0
chain() { # FAULT...
  fault "$@" >fault.toml
  outcome=$(machine faulty_chain --inject fault.toml --program faulty_chain 2>&1)
  count=$((count + 1))
}
goes_on="others go on, fft is free, mul is free, ifft is free"
dead() { sed "s/$1 is free/$1 is dead/" <<<"$goes_on"; } # TILE
of_chain() { # NAME OUTCOME...: it is one of these
  local wanted
  for wanted in "${@:2}"; do
    [ "$outcome" != "$wanted" ] || return 0
  done
  echo "$1: $outcome"
  verdict 1 "$1"
}

# A tile stops in each of its states, each time that it comes to it, or the first and the third time. When it does not
# come to it so often, the chain ends well. A tile that has ended its part may stop as well.
moments=$(if [ -n "$all" ]; then seq 60; else echo 1 3; fi)
for tile in fft mul ifft; do
  for state in computes asks reads writes 'waits for input' 'waits for output' ended failed; do
    for times in $moments; do
      at="tile = \"$tile\", state = \"$state\", times = $times"
      chain 'do = "stop-tile"' "tile = \"$tile\""
      of_chain "$tile stops: $state, $times" "error, $(dead $tile)" "right, $goes_on" "right, $(dead $tile)"
      [[ $outcome != right* ]] || break
    done
    [[ $times != 1 || $tile-$state = *-failed || $tile-$state = *-ended || $tile-$state = mul-reads ||
      $tile-$state = ifft-reads || $state = waits* ]] ||
      verdict 1 "$tile does not stop: $state"
  done
done
verdict 0 "tiles stop: $count runs"
# Such a run repeats, and goes on from a snapshot in front of the fault, and from one behind it.
at='tile = "mul", state = "computes", times = 2'
chain 'do = "stop-tile"' 'tile = "mul"'
of_chain "mul stops in its second block" "error, $(dead mul)"
stat() { # OPTION...: all but the time of the host
  timeout 120 "$flick" machine stat --machine ./faulty_chain.toml --inject fault.toml --program faulty_chain "$@" </dev/null 2>&1 |
    grep -v 'of the host'
}
stat >first.stat
stat | diff first.stat -
verdict $? "a run with a fault repeats"
for when in 20us 2ms; do
  stat --snapshot-at $when --snapshot chain.snapshot >/dev/null
  outcome=$(machine faulty_chain --inject fault.toml --restore chain.snapshot --program faulty_chain 2>&1)
  of_chain "mul stops, from a snapshot at $when" "error, $(dead mul)"
done
at='time = "20 us"'
chain 'do = "stop-tile"' 'tile = "dram"'
of_chain "the memory stops" "error, $goes_on"

# An accelerator of requests stops in each of its states. Who waits for its answer, or reaches its registers, learns of
# it.
count=0
build_root "$here/accelerators/requests.c" requests
verdict $? "requests is compiled"
for state in computes asks reads writes 'waits for input' 'stopped'; do
  for times in $(if [ -n "$all" ]; then echo 1 2 3 5 10 30 100 300 1000 3000; else echo 1 30; fi); do
    at="tile = \"sum\", state = \"$state\", times = $times"
    fault 'do = "stop-tile"' 'tile = "sum"' >fault.toml
    timeout 60 "$flick" machine run --machine "$here/accelerators/requests.toml" --inject fault.toml --firmware requests </dev/null >requests.out 2>&1
    count=$((count + 1))
    # It does not come to the state so often.
    ! cmp -s requests.out "$here/accelerators/requests.expected" || break
    last=$(grep -v '^flick' requests.out | tail -n 1)
    [[ $last = "no answer in cycles: 4000000" || $last = "command fails: 12" || $last = "it does not stop"* ]]
    verdict $? "an accelerator of requests stops: $state, $times: $last"
  done
done
verdict 0 "an accelerator of requests stops: $count runs"

# All groups of activities that there are lose their tiles.
for tile in fft mul; do printf '[[fault]]\nat = { time = "5 ms" }\ndo = "stop-tile"\ntile = "%s"\n' $tile; done >fault.toml
"$flick" card cc -O2 -Wall -Wextra -Werror -o lost_groups "$source/lost_groups.c"
verdict $? "lost_groups is compiled"
timeout 60 "$flick" machine run --machine "$here/accelerators/root_chain.toml" --inject fault.toml --program lost_groups \
  --program lost_groups --program lost_groups --program lost_groups </dev/null 2>/dev/null |
  diff <(yes 'activities that are lost: 16' | head -n 4) -
verdict $? "groups whose tiles stop"

# Each packet is lost, late or repeated once: units make up for that. Or a few of them.
count=0
packets=$(if [ -n "$all" ]; then seq 40; else echo 1 4; fi)
at='time = "0 s"'
for side in from to; do
  for tile in fft mul ifft; do
    for class in message answer credit data confirmation; do
      for how in drop delay repeat; do
        by=$([ $how = drop ] || echo 'by = "70 us"')
        for n in $packets; do
          chain "do = \"$how-message\"" "$side = \"$tile\"" "class = \"$class\"" "every = $n" "$by"
          of_chain "$how $class $n $side $tile" "right, $goes_on"
        done
      done
    done
  done
done
verdict 0 "packets fail once: $count runs"

# From a state on, packets of a class are lost until the unit gives up. The chain ends with an error, or was over. A
# tile that did not answer is asked again later.
count=0
states=$(if [ -n "$all" ]; then seq 8; else echo 2; fi)
for side in from to; do
  for tile in fft mul ifft; do
    for state in computes asks writes 'waits for input' 'waits for output'; do
      for class in message answer credit data confirmation; do
        for times in $states; do
          at="tile = \"$tile\", state = \"$state\", times = $times"
          chain 'do = "drop-message"' "$side = \"$tile\"" "class = \"$class\"" 'packets = 6'
          of_chain "6 of $class $side $tile are lost: $state, $times" "right, $goes_on" "error, $goes_on" \
            "right, $(dead $tile)" "error, $(dead $tile)"
        done
      done
    done
  done
done
verdict 0 "packets fail for good: $count runs"
conclude

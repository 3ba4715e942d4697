#!/bin/bash
# Programs of tiles that a root governs (docs/root.md): the same programs as on the root's tile, servers and clients
# on tiles of their own, a hostile kernel, and tiles that stop.
# `run-tiles.sh --calls N --seed N` makes only random calls, so many of a hostile program, and of a hostile kernel.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/card-tiles
source=$here/tiles
calls='' seed=1
while [ $# -gt 0 ]; do
  case $1 in
  --calls) calls=$2 && shift ;;
  --seed) seed=$2 && shift ;;
  *) echo "run-tiles.sh: no option $1" >&2 && exit 2 ;;
  esac
  shift
done
need kernel-root.elf file-server pipe-server libcard.a
rm -rf "$work" && mkdir -p "$work" && cd "$work"

# A machine with a root, and two tiles with harts besides.
with_cores() { # MACHINE
  sed '/^root = true/q' "$1"
  echo
  cat "$source/core.toml"
  sed -e '1,/^root = true/d' -e 's/^tiles = \["root"/&, "core"/' "$1"
}
with_cores "$here/accelerators/root_chain.toml" >cores.toml
with_cores "$here/random/root.toml" >random.toml
compile() { # SOURCE...
  for file; do
    program=$(basename "$file" .c)
    "$flick" card cc -O2 -Wall -Wextra -Werror -pthread -o "$program" "$file"
    verdict $? "$program is compiled"
  done
}
machine() { # OPTION...
  timeout 120 "$flick" machine run --machine ./cores.toml "$@" </dev/null 2>&1
}
prints() { # NAME EXPECTED OPTION...
  machine "${@:3}" >prints.out
  verdict $? "$1 ends"
  diff "$2" prints.out
  verdict $? "what $1 prints"
}
good='checks that fail: 0'
compile "$source"/{remote_calls,beside,deaths,core_programs,moving_programs,quotas}.c

# A hostile program, and a hostile kernel in the place of that of a tile.
bare=(--target=riscv64-unknown-elf -march=rv64gc -mabi=lp64d -mcmodel=medany -O2 -Wall -Wextra -Werror -nostdlib -static
  -ffreestanding -fuse-ld=lld)
clang-19 "${bare[@]}" -Wl,-z,separate-code -DONE_TILE -o random_root_calls "$here/root/random_root_calls.c"
verdict $? "random_root_calls is compiled"
random() { # CALLS
  timeout $((120 + $1 / 100)) "$flick" machine run --machine ./random.toml --program core0:random_root_calls \
    -- "$seed" "$1" </dev/null 2>&1 | of_program >random.out
  echo "$1 calls" | diff - random.out
  verdict $? "$1 random calls of a tile from seed $seed on"
}
# Programs beside it go on, and it reaches nothing. Its tile may be taken for lost.
hostile() { # CALLS MS
  clang-19 "${bare[@]}" -Wl,--image-base=0x80000000 -I"$build/obj/include" -DCALLS="$1" -DSEED="$seed" -o hostile.elf \
    "$source/hostile_kernel.c"
  verdict $? "the hostile kernel is compiled"
  timeout $((120 + $1 / 50)) "$flick" machine run --machine ./cores.toml --firmware-of core0=hostile.elf \
    --program beside -- "$2" root --program core1:beside -- "$2" core1 </dev/null 2>&1 | sort >hostile.out
  printf '%s\n' "calls: $1" "core1: $good" "messages that it has sent: 0" "messages that it has sent: 0" \
    "ranges that it has reached: 0" "ranges that it has reached: 0" "root: $good" "words that it has changed: 0" \
    "words that it has changed: 0" | diff - hostile.out
  verdict $? "$1 calls of a hostile kernel from seed $seed on"
}
if [ -n "$calls" ]; then
  random "$calls"
  hostile "$calls" $((100 + calls / 50))
  conclude
  exit
fi
random 3000
hostile 2000 60

# Calls of a tile, and programs for the root's tile. Here they are of another one.
compile "$here"/accelerators/root_{chain,sends,slices,services}.c
echo "$good" >good.expected
for option in "" --timed; do
  # shellcheck disable=SC2086
  prints "remote_calls${option:+ with $option}" good.expected $option --program core0:remote_calls
  for program in root_chain root_sends; do
    # shellcheck disable=SC2086
    prints "$program${option:+ with $option}" "$here/accelerators/$program.expected" $option --program core1:$program
  done
  # shellcheck disable=SC2086
  machine --set 'tile.0.dtu.slice="20 us"' $option --program core0:root_slices | grep -v ' turns' |
    diff "$here/accelerators/root_slices.expected" -
  verdict $? "root_slices${option:+ with $option}"
done

# Programs that programs start: of the root's tile, and of another one. What bad images do is told by the kernels.
for option in "" --timed; do
  for tile in "" core1:; do
    # shellcheck disable=SC2086
    machine $option --file core_programs --program ${tile}core_programs -- core_programs core0 core1 |
      grep -v '^kernel: ' | diff good.expected -
    verdict $? "programs that a program ${tile:+of $tile }starts${option:+ with $option}"
  done
done

# Programs that move when they have begun, and a tile that stops meanwhile.
for option in "" --timed; do
  # shellcheck disable=SC2086
  prints "programs that move${option:+ with $option}" good.expected $option --file moving_programs \
    --program moving_programs -- moving_programs
done
echo ends >ends.expected
for at in 6 7.3 9 11.6 14 17.5 20; do
  printf '[[fault]]\nat = { time = "%s ms" }\ndo = "stop-hart"\ntile = "core1"\nhart = 0\n' "$at" >stop-moves.toml
  prints "programs that move, and a tile that stops at $at ms" ends.expected --inject stop-moves.toml \
    --file moving_programs --program moving_programs -- moving_programs any
done

printf '%s\n' 'a tile: services 8, views 128, groups 16' "a program of the root's tile: services 4, views 64, groups 8" \
  'one behind them: services 4, views 64, groups 8' >quotas.expected
prints "what the programs of a tile have together" quotas.expected --file quotas --program quotas -- quotas

# Servers and clients on any tile.
mkdir in && echo hello >in/hello && ln in/hello in/link
tar --format=ustar -cf first.tar in
compile "$here"/files/{file_calls,file_posix,file_clients,file_chain,pipe_calls,pipe_chain}.c
services() { # SERVER CLIENT
  prints "root_services: $*" "$here/accelerators/root_services.expected" --program deaths -- last \
    --program "$1root_services" -- serve --program "$1root_services" -- serve --program "$2root_services" \
    --program "$1root_services" -- hold
}
services core0: ""
services "" core0:
services core1: core0:
# One program of the root's tile ends behind all others.
last=(--program deaths -- last)
files() { # SERVER CLIENT OTHER OPTION...
  local server=$1 client=$2 other=$3
  shift 3
  local with=(--file first.tar "$@" "${last[@]}" --program "$server$card/file-server" --)
  prints "file_posix: $server $client $*" good.expected "${with[@]}" --size 4 --sessions 2 first.tar \
    --program "${client}file_posix" --program "${other}file_posix" -- after
  prints "file_clients: $server $client $*" good.expected "${with[@]}" --size 2 --sessions 4 first.tar \
    --program "${client}file_clients" --program "${other}file_clients" -- second first third \
    --program "${other}file_clients" -- third first --program "${client}file_clients" -- leaves
  prints "file_chain: $server $client $*" "$here/files/file_chain.expected" "${with[@]}" --size 4 --sessions 1 first.tar \
    --program "${client}file_chain"
  with=("$@" "${last[@]}" --program "$server$card/pipe-server" --)
  prints "pipe_calls: $server $client $*" good.expected "${with[@]}" --sessions 3 --program "${client}pipe_calls" \
    --program "${other}pipe_calls" -- writes --program "${client}pipe_calls" -- leaves
  prints "pipe_chain: $server $client $*" "$here/files/pipe_chain.expected" "${with[@]}" --sessions 1 \
    --program "${client}pipe_chain"
}
files "" core0: core1:
# Two programs of a tile, whose harts a third one has: messages for them are switches. The kernel of the tile decides on
# them, or the root.
for by in kernel root; do
  prints "pipe_calls, switches by the $by" good.expected --set "tile.core.dtu.switches=$by" "${last[@]}" \
    --program "core0:$card/pipe-server" -- --sessions 3 --program core0:pipe_calls --program core0:pipe_calls -- writes \
    --program core0:pipe_calls -- leaves
done
files core0: core1: core1: --timed
prints "file_calls" good.expected --file first.tar "${last[@]}" --program "$card/file-server" -- --size 2 --sessions 3 \
  first.tar --program core0:file_calls

# From the attacker's side, as on the root's tile: revoked while it is used, and streams that are hostile.
cp "$here"/root/*.toml .
gcc -shared -fPIC -O2 -Wall -Wextra -Werror -I"$root/include" -o hostile.so "$here/root/hostile.c"
verdict $? "hostile functions are compiled"
compile "$here"/root/{storm,revoked_writer,hostile_streams,given_activity}.c
for pair in storm:storm revoked_writer:slow_writer hostile_streams:hostile given_activity:faulty_chain; do
  program=${pair%:*}
  with_cores "$here/root/${pair#*:}.toml" >"tiles-$program.toml"
  timeout 120 "$flick" machine run --machine "./tiles-$program.toml" --program "core0:$program" </dev/null 2>/dev/null |
    diff "$here/root/$program.expected" -
  verdict $? "$program on a tile of its own"
done
timeout 120 "$flick" machine run --machine ./tiles-hostile_streams.toml --program core0:hostile_streams -- 4000 "$seed" \
  </dev/null 2>/dev/null | diff <(echo "4000 random messages, all ends 1, checks that fail: 0") -
verdict $? "random messages of a tile"

# A server ends, or its tile or the root's stops while somebody waits: an error, and no wait without an end.
stops() { # TILE
  printf '[[fault]]\nat = { time = "5 ms" }\ndo = "stop-hart"\ntile = "%s"\nhart = 0\n' "$1" >stop.toml
}
printf '%s\n' 'an answer: 16 bytes, 5' 'no answer: -130' 'then: -2, -2' >deaths.expected
prints "a client of a server that ends" deaths.expected "${last[@]}" --program deaths -- ask 3 --program core0:deaths -- serve
stops core0
for tile in "" core1:; do
  prints "a client of a tile that stops" deaths.expected --inject stop.toml "${last[@]}" --program "${tile}deaths" -- ask 2 \
    --program core0:deaths -- serve
done
printf '%s\n' 'it starts: 0' 'its end: -1, 1' 'another one: -1, 1' >started.expected
for tile in "" core1:; do
  prints "who has started a program on a tile that stops" started.expected --inject stop.toml --file deaths \
    "${last[@]}" --program "${tile}deaths" -- start deaths
done
# The root's program ends behind the other one.
prints "a client of the root's server that ends" deaths.expected --program "core0:deaths" -- ask 3 --program core1:deaths -- serve
printf '%s\n' 'the wait ends: -130' 'then: -130' 'and a message: -130' >root.expected
stops root
prints "a program whose root stops" root.expected --inject stop.toml --program core0:deaths -- wait

# A tile beside a root of host programs would have no kernel.
with_cores "$root/machines/card-accelerators.toml" >with-host.toml
timeout 60 "$flick" machine run --machine ./with-host.toml --program deaths </dev/null >wrong.out 2>&1
[ $? = 1 ] && grep -q 'FLK0620' wrong.out && grep -q 'core0 and 1 more: tiles of harts beside a root, with a host' wrong.out
verdict $? "tiles of harts beside a root of host programs"

# What a command line says that is wrong.
machine --program core2:deaths >wrong.out
[ $? = 1 ] && grep -q 'core2:deaths: No such file' wrong.out
verdict $? "a tile that is not there"
machine --program deaths --firmware-of core2=hostile.elf >wrong.out
[ $? = 1 ] && grep -q 'is no TILE=FILE with one of root, core0, core1' wrong.out
verdict $? "firmware of a tile that is not there"
conclude

# A timed run on a card: the threads and the machine have one clock. A part of run.sh.

"$flick_cc" -O2 -Wall -Werror --flick-timed "$here/card.c" -o "$work/card" -pthread

# on_card MACHINE PLATFORM [COMMAND…]: what it prints there
on_card() {
  local machine=$1 platform=$2
  shift 2
  FLICK_BACKEND=card FLICK_MACHINE=$machine FLICK_PLATFORM=$platform "$@" timeout 60 "$work/card"
}

# of NAME FILE: a figure of such an output
of() { sed -n "s/^$1 //p" "$2"; }

# more NAME BY FILE: the figure is that of the first run and BY
more() { [ "$(($(of "$1" "$work/card.first") + $2))" = "$(of "$1" "$3")" ]; }

# Of some 10 ms: a hart wakes with its clock, and the kernel may look at the time.
is_as_long() {
  local difference=$(($(of work "$1") - $(of work "$2")))
  [ "${difference#-}" -le 1000000 ]
}

# Within 10 % of nanoseconds a call: the kernel's instructions depend a little on its compiler.
is_near() {
  local difference=$(($(of "$1" "$3") - 200 * $2 * 1000))
  [ "${difference#-}" -le $((200 * $2 * 100)) ]
}

are_near_the_paper() { is_near null 18300 "$1" && is_near nested 16900 "$1"; }

card_times() {
  local machine=flick-isca20 platform=flick-isca20
  on_card $machine $platform env >"$work/card.first" || return 1
  # The same figures again, whatever is around.
  on_card $machine $platform env LARGE="$large" >"$work/card.again" || return 1
  on_card $machine $platform setarch -R >>"$work/card.again" || return 1
  [ "$(cat "$work/card.first" "$work/card.first")" = "$(<"$work/card.again")" ] || return 1
  # A call takes what the paper's Table III says, whether the kernel has a hart of its own or not.
  are_near_the_paper "$work/card.first" || return 1
  on_card flick-isca20-harts $platform env >"$work/card.harts" || return 1
  are_near_the_paper "$work/card.harts" || return 1

  # 200 calls, each of which takes the host's page fault once.
  on_card $machine $platform,crossing.host-calls-nxp.fault='1.7 us' env >"$work/card.fault" || return 1
  more null 200000000 "$work/card.fault" && more nested 0 "$work/card.fault" || return 1
  # What the NxP does is executed, so that the platform's figure for it says nothing.
  on_card $machine $platform,crossing.nxp-returns.descriptor='90 us',crossing.host-returns.poll='9 us' env >"$work/card.poll" || return 1
  cmp "$work/card.first" "$work/card.poll" || return 1
  # Of a descriptor's way the platform's figure is charged, but for the machine's link: 100 ns more on two of four
  # ways.
  on_card $machine $platform,crossing.nxp-returns.link='1.2 us',crossing.nxp-calls-host.link='1.2 us' env >"$work/card.way" || return 1
  more null $((200 * 100000)) "$work/card.way" && more nested $((200 * 100000)) "$work/card.way" || return 1
  on_card $machine $platform,crossing.machine-link='406.4 ns' env >"$work/card.wire" || return 1
  more null $((-200 * 2 * 100000)) "$work/card.wire" && more nested $((-200 * 2 * 100000)) "$work/card.wire" || return 1
  # Two descriptors go over the link.
  on_card $machine,link.latency='379 ns' $platform env >"$work/card.link" || return 1
  more null $((200 * 2 * 100000)) "$work/card.link" && more nested $((200 * 2 * 100000)) "$work/card.link" || return 1
  # The code of the NxP takes what it takes without a card.
  FLICK_PLATFORM=$platform "$work/card" >"$work/card.inline" || return 1
  is_as_long "$work/card.inline" "$work/card.first" || return 1
  [ "$(of staying "$work/card.inline")" = "$(of staying "$work/card.first")" ] || return 1
  # A faster clock of the card's harts makes the kernel faster, and not the host.
  on_card $machine,tile.nxp.clock='400 MHz' $platform env >"$work/card.clock" || return 1
  [ "$(of null "$work/card.clock")" -lt "$(of null "$work/card.first")" ] || return 1
  is_as_long "$work/card.clock" "$work/card.first"
}
if [ -e "$build/lib/flick/card/kernel-host.elf" ]; then
  status=0
  card_times || status=$?
  result "times on a card" "$status"
fi

# Timed runs on a card with two kinds of NxP: each tile's code by its own core, and memory by distance. A part of
# run.sh.

platform tiles 'host-load=200 ns' 'nxp-load=100 ns' $'more=
[host.memory.tile.compute]
load = "450 ns"
store = "0 ns"
[tile.storage.memory.host]
load = "300 ns"
[tile.storage.memory.stack]
load = "20 ns"
[tile.compute.memory.nxp]
load = "50 ns"
[tile.compute.memory.stack]
load = "10 ns"
[tile.compute.memory.tile.storage]
load = "700 ns"
store = "0 ns"'
platform tile_clocks int=2 $'more=
[tile.storage]
clock = "500 MHz"
[tile.compute]
clock = "4 GHz"
cycles.int = 1
cycles.load = 1
cycles.branch = 1
cycles.jump = 1
cycles.address = 1'

# Of a step: within 1 % of picoseconds.
takes() { # NAME PICOSECONDS
  local found difference
  found=$(sed -n "s/^$1 //p" "$work/card_tiles.out")
  difference=$((found - 4 * 4096 * $2))
  [ "${difference#-}" -le $((4 * 4096 * $2 / 100)) ] && return
  echo "$1: $found, not $((4 * 4096 * $2))"
  return 1
}

run_tiles() { # MACHINE PLATFORM
  FLICK_BACKEND=card FLICK_MACHINE=$1 FLICK_PLATFORM=$2 timeout 120 "$work/card_tiles" >"$work/card_tiles.out"
}

tiles_by_distance() {
  local two=$work/tiles.toml
  run_tiles card-two "$two" || return 1
  takes storage-own 100000 && takes storage-data 100000 && takes compute-own 50000 && takes compute-data 50000 || return 1
  # What a section does not say is as the host's memory, or as [nxp] has it.
  takes storage-compute 300000 && takes compute-storage 700000 && takes compute-first 700000 || return 1
  takes storage-host 300000 && takes compute-host 0 && takes both 400000 || return 1
  takes storage-stack 20000 && takes compute-stack 10000 || return 1
  takes host-storage 200000 && takes host-compute 450000 && takes host-data 450000 || return 1
  # A platform without tiles has one NxP, whose memory is as near to all.
  run_tiles card-two "$work/latency.toml" || return 1
  takes storage-compute 100000 && takes compute-storage 100000 && takes host-compute 300000 || return 1
  # Without a card there is one, too, whatever the file says of tiles.
  FLICK_PLATFORM=$two "$work/card_tiles" >"$work/card_tiles.out" || return 1
  takes storage-compute 100000 && takes compute-own 100000 && takes host-compute 200000
}

# Cycles of both cores are charged, in the report by tile.
tiles_by_clock() {
  local storage compute
  run_tiles card-two "$work/tile_clocks.toml" || return 1
  storage=$(sed -n 's/^storage-own //p' "$work/card_tiles.out")
  compute=$(sed -n 's/^compute-own //p' "$work/card_tiles.out")
  # 2 cycles of 2 ns against 1 of 0.25 ns: a step has the same instructions.
  takes storage-own $((compute * 16 / (4 * 4096))) && takes both $(((storage + compute) / 2 / (4 * 4096))) || return 1
  [ "$compute" -ge $((4 * 4096 * 750)) ] || return 1
  "$flick" stat --machine card-two --platform "$work/tile_clocks.toml" timeout 120 "$work/card_tiles" 2>"$work/card_tiles.stat" >/dev/null || return 1
  grep -q 'NxP instructions on storage' "$work/card_tiles.stat" && grep -q 'NxP instructions on compute' "$work/card_tiles.stat" || return 1
  grep -q 'on_both -> on_compute: 3 calls' "$work/card_tiles.stat" || return 1
  FLICK_BACKEND=card FLICK_MACHINE=card-two "$flick" record --platform="$work/tile_clocks.toml" -o "$work/tiles.trace" "$work/card_tiles" >/dev/null 2>&1 || return 1
  "$flick" report -i "$work/tiles.trace" -o "$work/tiles.html" >/dev/null || return 1
  grep -q 'NxP instructions on compute' "$work/tiles.html"
}

# In a file that names what a machine lacks, and one with a wrong key.
wrong_tiles() {
  local out=$work/wrong_tiles.out
  refused() { # MACHINE TEXT PLATFORM
    FLICK_BACKEND=card FLICK_MACHINE=$1 FLICK_PLATFORM=$3 timeout 60 "$work/card_tiles" >"$out" 2>&1
    [ $? = 125 ] && grep -qF '[FLK0111]' "$out" && grep -qF "$2" "$out" || { cat "$out"; return 1; }
  }
  platform lost $'more=\n[tile.archive]\nclock = "1 GHz"'
  refused card-two 'says something of the tile "archive", which the machine card-two does not have; it has storage, compute' "$work/lost.toml" || return 1
  platform lost $'more=\n[host.memory.tile.archive]\nload = "1 ns"\nstore = "0 ns"'
  refused card-two 'of the tile "archive"' "$work/lost.toml" || return 1
  refused card 'the machine card does not have; it has nxp' "$work/tiles.toml" || return 1
  platform lost $'more=\n[tile.compute]\nclok = "1 GHz"'
  refused card-two '`tile.compute.clok` is not known' "$work/lost.toml" || return 1
  platform lost $'more=\n[tile.compute]\nclock = "1 ns"'
  refused card-two '`tile.compute.clock`: ' "$work/lost.toml" || return 1
  platform lost $'more=\n[tile.compute]\ncores = 4'
  refused card-two '`tile.compute.cores` is not known' "$work/lost.toml" || return 1
  platform lost $'more=\n[tile.compute.memory.tile.compute]\nload = "1 ns"\nstore = "0 ns"'
  refused card-two "this is the tile's own memory" "$work/lost.toml" || return 1
  platform lost $'more=\n[tile]\ncompute = 3'
  refused card-two '`tile.compute`: it is a whole number' "$work/lost.toml" || return 1
  platform lost $'more=\n[tile.compute]\nisa = "rv64gx"'
  refused card-two '`tile.compute.isa`: ' "$work/lost.toml"
}

if [ -e "$build/lib/flick/card/kernel-host.elf" ]; then
  "$flick_cc" -O2 -Wall -Werror --flick-timed "$here/card_tiles.c" -o "$work/card_tiles"
  for part in tiles_by_distance tiles_by_clock wrong_tiles; do
    status=0
    $part || status=$?
    result "$part on a card" "$status"
  done
fi

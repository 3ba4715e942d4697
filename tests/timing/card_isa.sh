# Timed runs on harts that differ in their instructions. A part of run.sh.

platform isa int=1 $'more=[tile.storage]\nclock = "500 MHz"\n[tile.compute]\nclock = "4 GHz"'
platform isa_alone int=1

# isa_run MACHINE PLATFORM WHAT: into files, under `flick stat`
isa_run() {
  "$flick" stat --machine "$1" --platform "$2" timeout 120 "$work/card_isa" "$3" >"$work/isa.out" 2>"$work/isa.stat"
}
isa_figure() { sed -n "s/^$1 //p" "$work/isa.out"; }
isa_says() { grep -qE "$1" "$work/isa.stat" || { cat "$work/isa.stat"; return 1; }; }
# isa_ratio FIGURE OF BY: within 1 %
isa_ratio() {
  local difference=$(($1 - $2 * $3))
  [ "${difference#-}" -le $(($2 * $3 / 100)) ] || { echo "$1 is not $3 times $2"; return 1; }
}

vectors_migrate() {
  local fast
  # Another hart of the tile has them, or another tile.
  isa_run card "$work/isa_alone.toml" vectors || { cat "$work/isa.stat"; return 1; }
  isa_says 'vectors  on hart 1: .*left 1 time for an instruction' && isa_says 'vectors  on hart 5: ' || return 1
  isa_run card-two "$work/isa.toml" vectors || { cat "$work/isa.stat"; return 1; }
  isa_says 'vectors  on storage.hart0: .*left' && isa_says 'vectors  on compute.vector0: for an instruction' || return 1
  # There it takes that tile's time.
  fast=$(isa_figure work)
  isa_run card-two "$work/isa.toml,tile.compute.clock=2 GHz" vectors || return 1
  isa_ratio "$(isa_figure work)" "$fast" 2 || return 1
  isa_run card-two "$work/isa.toml,tile.storage.clock=250 MHz" vectors || return 1
  isa_ratio "$(isa_figure work)" "$fast" 1 || return 1
  # Where nobody has them there is no such run.
  sed 's/rv64gcv_/rv64gc_/; s/_zvl256b//' "$root/machines/card.toml" >"$work/plain.toml"
  ! isa_run "$work/plain.toml" "$work/isa_alone.toml" vectors 2>/dev/null || return 1
  isa_says 'FLK0501.*no hart of the machine .*plain.toml has .*\(v\)'
}

# Zba is emulated where the platform's core lacks it. Where it has it, a hart without it does not do.
emulated_stays() {
  local alone
  sed '0,/_zicond_zba_zbb_zbs/s///' "$root/machines/card.toml" >"$work/without.toml"
  isa_run "$work/without.toml" "$work/isa_alone.toml" address || { cat "$work/isa.stat"; return 1; }
  isa_says 'address  on hart 1: ' || return 1
  ! grep -q 'for an instruction' "$work/isa.stat" || return 1
  alone=$(isa_figure work)
  isa_run "$work/without.toml" "$work/isa_alone.toml,nxp.isa=rv64gc_zba_zbb_zbs_zicond" address || { cat "$work/isa.stat"; return 1; }
  isa_says 'address  on hart 1: .*left 1 time for an instruction' && isa_says 'address  on hart 5: ' || return 1
  isa_ratio "$(isa_figure work)" "$alone" 1 || return 1
  # The shipped platform of the paper emulates it, and the paper's machine has one hart.
  isa_run flick-isca20 flick-isca20 address || { cat "$work/isa.stat"; return 1; }
  ! isa_run flick-isca20 flick-isca20,nxp.isa=rv64gc_zba address 2>/dev/null || return 1
  isa_says 'FLK0501.*no hart of the machine flick-isca20 has .*\(zba\)'
}

if [ -e "$build/lib/flick/card/kernel-host.elf" ]; then
  "$flick_cc" -O2 -Wall -Werror --flick-timed --nxp-march=rv64gcv_zba -Xnxp=-O3 "$here/card_isa.c" -o "$work/card_isa"
  for part in vectors_migrate emulated_stays; do
    status=0
    $part || status=$?
    result "$part on a card" "$status"
  done
fi

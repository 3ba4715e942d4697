#!/bin/bash
# C and C++ programs of the card with its library (programs/), built by `flick card cc`: each on machines
# of Flick's by `flick machine run --program`, and on QEMU's `virt`. Each must print NAME.expected on all
# of them. C++ programs print it on the host, too. `run-programs.sh NAME...` runs only these, and with
# FLICK_BLESS=1 it writes these files.
#
# Comments at the start of a program say what it is run with:
#   ARGS: arguments, as a shell has them     INPUT: standard input, as printf has it
#   FILE: NAME=contents, as printf has them  STATUS: the exit status, or `not 0`; 0 if there is no line
#   AND: it runs twice at once, with these arguments the second time
#   SERVERS: it runs with the servers
#   TILES: 4, if it runs on four clusters of mppa256, too
#   NEEDS: coherent caches, or memory above 2 MiB, which a cluster of mppa256 lacks
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/card-programs
mkdir -p "$work"
need kernel.elf libcard.a

# Options of `flick machine run`, by name.
declare -A machines=(
  [virt]="--machine virt"
  [two-harts]="--set harts=2"
  [eight-harts-timed]="--timed --set harts=8"
  [cluster]="--machine $work/cluster.toml"
  [cluster-timed]="--timed --machine $work/cluster.toml"
  [clusters]="--machine mppa256 --set tile.cluster.count=4 --set link.noc.columns=2"
  [clusters-timed]="--timed --machine mppa256 --set tile.cluster.count=4 --set link.noc.columns=2"
  [write-back-timed]='--timed --machine rocket-rvv --set tile.coherence={kind="none"} --set isa=rv64gc_zicntr_zihpm_xtheadcmo'
)

# The lines of a directive.
directive() { sed -n "s|^// $1: ||p" "$source"; } # NAME

has_status() { # FOUND
  local wanted
  wanted=$(directive STATUS)
  case $wanted in
  not\ 0) [ "$1" != 0 ] ;;
  *) [ "$1" = "${wanted:-0}" ] ;;
  esac
}

# Addresses of code depend on the compiler.
without_addresses() { sed '/^kernel:/s/0x[0-9a-f]*/ADDRESS/g' | tr -d '\r'; }

# Without time, caches hold no data.
can_run() { # MACHINE
  [[ $1 != clusters* ]] || [ -n "$(directive TILES)" ] || return 1
  case $(directive NEEDS) in
  '') ;;
  coherent*) [[ $1 != cluster-timed && $1 != write-back-timed ]] ;;
  *) [[ $1 != cluster* ]] ;;
  esac
}

# Words as the command line of a machine has them.
words() { perl -e 'for (@ARGV) { s/([^!-$&-~])/sprintf "%%%02x", ord $1/ge; print " ", length ? $_ : "%-" }' -- "$@"; }

same() { # FOUND STATUS NAME
  [ -z "${FLICK_BLESS:-}" ] || without_addresses <"$1" >"${source%.*}.expected"
  without_addresses <"$1" | diff "${source%.*}.expected" - && has_status "$2"
  verdict $? "$3 (status $2)"
}

cd "$work"
# One cluster alone: its 15 user harts have caches that are not coherent.
sed '/^count = 16 /s/16/1/; /^\[tile.dtu\]/,$d' "$root/machines/mppa256.toml" >cluster.toml
sources=("$here"/programs/*.c "$here"/programs/*.cpp)
if [ $# -gt 0 ]; then
  sources=()
  for name in "$@"; do sources+=("$here/programs/$name".c*); done
fi
printf '\x6f\0\0\0' >no-kernel.bin
for source in "${sources[@]}"; do
  name=$(basename "${source%.*}")
  flags=(-O2 -Wall -Wextra -Werror "-fmacro-prefix-map=$here/=")
  compiler=cc
  [ "${source##*.}" = c ] || compiler=c++
  if [ $compiler = c++ ]; then
    flags+=(-std=c++20)
    has_cxx "$name" || continue
  fi
  rm -f "$name"
  "$flick" card $compiler "${flags[@]}" -o "$name" "$source"
  verdict $? "$name is compiled"
  declare -a arguments=() files=() names=("$name") options=()
  eval "arguments=($(directive ARGS))"
  line=$(words "$name" "${arguments[@]}")
  given=("${arguments[@]}")
  if [ -n "$(directive AND)$(directive SERVERS)" ]; then
    options=(--servers) names=(flick-servers "${names[@]}")
    cp "$card/servers" flick-servers
    line="flick-servers $((1 + ${#arguments[@]}))$line"
  fi
  if [ -n "$(directive AND)" ]; then
    eval "others=($(directive AND))"
    options=()
    line+=" $((1 + ${#others[@]}))$(words "$name" "${others[@]}")"
    given+=(--program "$name" -- "${others[@]}")
  fi
  while IFS='=' read -r file contents; do
    [ -n "$file" ] || continue
    mkdir -p "$(dirname "$file")"
    # shellcheck disable=SC2059
    printf "$contents" >"$file"
    files+=(--file "$file=$file") names+=("$file")
  done < <(directive FILE)
  # shellcheck disable=SC2059
  printf "$(directive INPUT)" >stdin.bytes
  if [ $compiler = c++ ]; then
    clang++-19 "${flags[@]}" -pthread -o "$name.host" "$source"
    # The shell would say how the program ended.
    { timeout 60 "./$name.host" "${arguments[@]}" <stdin.bytes >"$name.host.out" 2>&1; } 2>/dev/null
    same "$name.host.out" $? "$name on the host"
  fi
  for machine in "${!machines[@]}"; do
    can_run "$machine" || continue
    read -ra of_machine < <(echo "${machines[$machine]}")
    timeout 60 "$flick" machine run "${of_machine[@]}" "${options[@]}" --max-instructions 4000000000 --program "$name" \
      "${files[@]}" -- "${given[@]}" <stdin.bytes >"$name.$machine.out" 2>&1
    same "$name.$machine.out" $? "$name on $machine"
  done
  has_qemu "$name" || continue
  # QEMU gets what `flick machine run --program` makes: the archive, words without blanks, an end of input.
  tar --format=ustar -cf "$name.tar" "${names[@]}"
  { perl -pe 's/([\x04\x16])/\x16$1/g' <stdin.bytes && printf '\x04'; } >qemu-input
  timeout 60 qemu-system-riscv64 -accel tcg,thread=single -machine virt -smp 4 -m 256M -display none -monitor none -serial stdio \
      -bios "$card/kernel.elf" -kernel no-kernel.bin -initrd "$name.tar" -append "$line" <qemu-input >"$name.qemu.out" 2>&1
  same "$name.qemu.out" $? "$name on QEMU"
done
conclude

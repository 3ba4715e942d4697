#!/bin/bash
# Runs of programs (models/) against the models of the kernel: each point that the machine's harts have
# come to must be a step that the model allows.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/card-models
kernel=$card/kernel.elf
mkdir -p "$work"
need kernel.elf

cd "$work"
points() { # PROGRAM OPTION...
  build_bare "$1" "$here/models/$1.c"
  timeout 120 "$flick" machine run "${@:2}" --firmware "$kernel" --initrd "$1.tar" --append "$1" --points "$1.points" \
    --max-instructions 2000000000 </dev/null
  verdict $? "$1"
}
for mode in functional timed; do
  options=()
  [ $mode = functional ] || options=(--timed)
  points three_threads --set harts=3 "${options[@]}"
  points three_callers --set harts=4 "${options[@]}"
  "$root/scripts/firmware.sh" replay "$work/three_threads.points" "$work/three_callers.points"
  verdict $? "a run against the models, $mode"
done
conclude

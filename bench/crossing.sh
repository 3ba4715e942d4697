#!/bin/bash
# Two builds of Flick beside each other: `flick bench crossing` of both, in turns, so that other work on the
# machine meets both alike.
#
#   bench/crossing.sh [-r ROUNDS] BEFORE AFTER
#
# BEFORE, AFTER: built or installed trees (such as build/ of two checkouts). ROUNDS: 7. What is printed is the
# median over the rounds, in nanoseconds and in direct calls of the same round, and AFTER's share of BEFORE's.
set -euo pipefail
rounds=7 trees=()
while [ $# -gt 0 ]; do
  case $1 in
    -r) rounds=$2 && shift ;;
    -*) sed -n '2,/^set/s/^# \?//p' "$0" >&2 && exit 2 ;;
    *) trees+=("$(cd "$1" && pwd)") ;;
  esac
  shift
done
[ ${#trees[@]} = 2 ] || { sed -n '2,/^set/s/^# \?//p' "$0" >&2 && exit 2; }
unset "${!FLICK_@}"

measured() {
  local round tree
  for ((round = 1; round <= rounds; round++)); do
    echo "round $round of $rounds" >&2
    for tree in 0 1; do
      "${trees[tree]}/bin/flick" bench crossing | sed "s/^/$tree /"
    done
  done
}

measured | python3 -c '
import collections, statistics, sys
figures, trigger = collections.defaultdict(list), ""
for line in sys.stdin:
    tree, text = line.split(" ", 1)
    if text.startswith("FLICK_TRIGGER="):
        trigger = text.split(":")[0].split("=")[1]
    cells = [cell.strip() for cell in text.split("|")]
    if len(cells) == 6 and "NxP" in cells[1]:
        figures[trigger, cells[1], int(tree)].append((float(cells[2]), float(cells[4])))
print("| crossing | before ns | after ns | before, x direct | after, x direct | after / before |")
print("|---|--:|--:|--:|--:|--:|")
for trigger, call in dict.fromkeys(key[:2] for key in figures):
    before, after = (
        [statistics.median(column) for column in zip(*figures[trigger, call, tree])] for tree in (0, 1))
    print(f"| {call}, by {trigger} | {before[0]:.1f} | {after[0]:.1f} | {before[1]:.1f} | {after[1]:.1f} "
          f"| {after[1] / before[1]:.2f} |")
'

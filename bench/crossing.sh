#!/bin/bash
# Compares two builds of Flick: `flick bench crossing` of both, in turns, so that other work on the
# machine meets both alike.
#
#   bench/crossing.sh [-r ROUNDS] BEFORE AFTER
#
# BEFORE and AFTER are built or installed trees (such as build/ of two checkouts). By default ROUNDS
# is 7. The script prints the median over the rounds, in nanoseconds and in direct calls of the same
# round, and AFTER's share of BEFORE's.
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
      "${trees[tree]}/bin/flick" bench crossing --csv | sed "s/^/$tree,/"
    done
  done
}

# Columns are matched by their names, and rows by the trigger, the engine and the call. So a tree
# may have more of them than the other.
measured | python3 -c '
import collections, statistics, sys
figures, head = collections.defaultdict(list), {}
for line in sys.stdin:
    tree, *cells = line.strip().split(",")
    if cells[0] == "trigger":
        head[tree] = cells
        continue
    row = dict(zip(head[tree], cells))
    call = row["call"].replace("-", "_").lower()
    if "nxp" in call or "reentry" in call:
        key = row["trigger"], row.get("engine", "interp"), call
        figures[key, int(tree)].append((float(row["median_ns"]), float(row["ratio"])))
print("| crossing | before ns | after ns | before, x direct | after, x direct | after / before |")
print("|---|--:|--:|--:|--:|--:|")
for key in dict.fromkeys(key for key, _ in figures):
    if not all((key, tree) in figures for tree in (0, 1)):
        continue
    before, after = (
        [statistics.median(column) for column in zip(*figures[key, tree])] for tree in (0, 1))
    trigger, engine, call = key
    print(f"| {call}, by {trigger}, {engine} | {before[0]:.1f} | {after[0]:.1f} | {before[1]:.1f} | {after[1]:.1f} "
          f"| {after[0] / before[0]:.2f} |")
'

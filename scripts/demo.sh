#!/bin/bash
# Runs the main job on real input: breadth-first search over the dependency graph of Debian's
# packages, with the traversal on the NxP. Compares it with plain clang's build of the same source.
#
# With FLICK_DEMO_REAL=1 the graph must come from this machine's apt lists, and not from the sample.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
out=$build/demo
mkdir -p "$out"

say "Building examples/bfs with flick-cc and with plain clang-19"
make -s -B -C "$root/examples" CC="$flick_cc" OUT="$out/flick" "$out/flick/bfs"
make -s -B -C "$root/examples" CC=clang-19 OUT="$out/clang" "$out/clang/bfs"

graph=$out/debian.txt names=$out/debian.names
say "Making the dependency graph of Debian's packages from apt's lists"
if { ensure_apt_lists || true; } && "$root/scripts/debian-graph.sh" "$graph" "$names"; then
  sed -n '1,2p' "$graph"
elif [ -n "${FLICK_DEMO_REAL:-}" ]; then
  echo "demo: FLICK_DEMO_REAL asks for the graph of this machine's apt lists, and there is none" >&2
  exit 1
else
  graph=$root/examples/data/debian-sample.txt names=$root/examples/data/debian-sample.names
  echo "THIS IS ONLY A SAMPLE: this machine has no package lists, so a small part of Debian's graph"
  echo "from the repository is used: examples/data/debian-sample.txt"
fi

run=(-u -n 10 -l "$names" -t "$graph")
say "bfs by flick-cc: the traversal on the NxP, a call to the host for every vertex found"
"$flick" stat -o "$out/summary" "$out/flick/bfs" "${run[@]}" >"$out/flick.txt"
cat "$out/flick.txt"
say "bfs by plain clang-19"
"$out/clang/bfs" "${run[@]}" >"$out/clang.txt"
if ! diff "$out/clang.txt" "$out/flick.txt"; then
  echo "demo: the two programs do not agree (< clang, > flick)" >&2
  exit 1
fi
echo "the output is the same, line by line"

say "Where each function was placed, and why (flick place --explain)"
"$flick" place --explain "$out/flick/bfs"
say "What crossed, and where each function ran (flick stat)"
cat "$out/summary"

# A program that stayed on the host would print the same levels, so the crossings are checked.
if ! grep -Eq '^ +[1-9][0-9,]*  calls NxP -> host' "$out/summary"; then
  echo "demo: the traversal did not call the host from the NxP" >&2
  exit 1
fi
say "Demo passed: $(sed -n 's/^reached //p' "$out/flick.txt") vertices reached, ten times, over $graph"

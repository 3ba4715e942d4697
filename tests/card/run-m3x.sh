#!/bin/bash
# The measurements of the M3x paper, few of them: `flick bench paper m3x --quick`. A run is the same each time, so
# counts are exact, and its tables can be made again of its raw output.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
. "$here/lib.sh"
work=$build/test/card-m3x
need kernel-root.elf libcard.a
rm -rf "$work" && mkdir -p "$work" && cd "$work"

timeout 300 "$flick" bench paper m3x --quick -o results >page.md 2>log
verdict $? "the measurements end ($work/log)"
diff page.md results/paper-m3x.md
verdict $? "the page is printed and written"
timeout 60 "$flick" bench paper m3x --only-report -o results 2>>log | diff page.md -
verdict $? "the tables are made again of the raw output"

# Bars that are held with much to spare: a miss is a mistake.
held=("m3x-noc: autonomous chain" "m3x-pcie: autonomous chain" "m3x-noc: two buffers" "m3x-noc: 4 autonomous chains"
  "m3x-pcie: assisted over autonomous, time"
  "m3x-noc: forwarded round trip, stream" "m3x-pcie: forwarded round trip, request"
  "m3x-noc: round trip, stream" "m3x-pcie: round trip, request" "m3x-noc: round trip, core")
for bar in "${held[@]}"; do
  grep -q "^| $bar.* held |\$" page.md
  verdict $? "the bar holds: $bar"
done

# Messages to the program: of autonomous chains one for the piece of input and one at its end, two for room, COMMIT and
# END; of assisted ones six for each of the 256 blocks, and 18 at begin and end.
messages() { awk -F, -v chains="$2" '$1 == chains { print $7 }' "results/raw/chains-$1.csv"; }
for machine in m3x-noc m3x-pcie; do
  for mode in autonomous autonomous-two; do
    [ "$(messages $machine-$mode 1) $(messages $machine-$mode 4)" = "6 24" ]
    verdict $? "messages of $mode chains on $machine"
  done
  for mode in assisted assisted-two files calls calls-two; do
    [ "$(messages $machine-$mode 1) $(messages $machine-$mode 4)" = "1554 6216" ]
    verdict $? "messages of chains, $mode, on $machine"
  done
done
# Requests, and pages that were missing behind the warm-up: an accelerator's unit keeps its pages.
[ "$(awk -F, 'NR > 1 { print $2, $5, $7 }' results/raw/batches-md.csv | paste -sd' ')" = "16 64 0 1024 1 0" ]
verdict $? "requests for md"
# Messages in a row for a receiver without a turn: one of them is forwarded.
awk -F, '$1 == "queue messages" { sent[$2] = $4 } $1 == "queue forwarded" { n++; if ($4 > sent[$2] / $2 + 1 || !$4) bad = 1 }
  END { exit bad || n != 8 }' results/raw/round-trips-m3x-noc-suspended.csv
verdict $? "forwards of messages in a row"
# Chains that share accelerators: a tile that left a chain's stage before that of its sender cost 6 %.
awk -F, 'NR > 1 { time[$1] = $4 } END { exit !(time[4] && time[4] < 4 * 1.04 * time[1]) }' \
  results/raw/switches-m3x-pcie-1.csv
verdict $? "four chains in slices behind PCIe"
conclude

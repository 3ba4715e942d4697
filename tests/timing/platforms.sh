# Runs one program on every shipped platform: how much faster a chase through NxP memory is on the NxP
# follows from the figures of its file. run.sh sources this file.

# Name, and the bounds of the quotient: a step of the host by one of the NxP, some 5 instructions and a miss.
shipped='
flick-isca20 2.2 3.1
flick-isca20-fitted 2.2 3.1
flick-isca20-500us 2.0 3.0
flick-isca20-1ms 1.8 2.8
near-memory 0.7 1.2
cxl-memory 1.6 2.4
pcie5-card 6.5 9.5
in-dram 0.12 0.25
smartnic 11 18
'

"$flick_cc" -O2 -g -Wall -Werror --flick-timed "$here/platforms.c" -o "$work/platforms"
[ "$("$flick" platform list | sed 's/ .*//' | sort)" = "$(awk 'NF { print $1 }' <<<"$shipped" | sort)" ] &&
  status=0 || status=1
result 'every shipped platform has bounds here' "$status"
while read -r name least most; do
  [ -n "$name" ] || continue
  gain=$(FLICK_PLATFORM=$name "$work/platforms" | cut -d' ' -f1)
  awk -v gain="$gain" -v least="$least" -v most="$most" \
    'BEGIN { exit !(gain >= least && gain <= most) }' && status=0 || status=1
  result "platform $name: $gain, of $least to $most" "$status"
done <<<"$shipped"

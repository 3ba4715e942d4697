# Tests the baseline of a verdict, the program with nothing placed, and the cases without a verdict.
# run.sh sources this file.

# Picoseconds of the first line of a file with these words.
time_of() {
  awk -v words="$2" 'index($0, words) {
    split("ps ns us ms s", unit); factor["ps"] = 1
    for (i = 2; i <= 5; i++) factor[unit[i]] = factor[unit[i - 1]] * 1000
    printf "%.0f\n", $1 * factor[$2]; exit }' "$1"
}

# near A B PERCENT
near() { awk -v a="$1" -v b="$2" -v by="$3" 'BEGIN { exit !(b > 0 && a > b * (1 - by / 100) && a < b * (1 + by / 100)) }'; }

options=(-O2 -g -Wall -Werror --flick-timed "$here/baseline.c")
for link in -pie -static; do
  [ $link = -pie ] && code=-fPIE || code=-fno-pie
  "$flick_cc" "${options[@]}" $code $link -o "$work/baseline"
  "$flick" stat --platform flick-isca20 --verify-baseline -o "$work/verdict" "$work/baseline" >"$work/expected"
  before=$(time_of "$work/verdict" '  with nothing placed')
  staying=$(time_of "$work/verdict" 'without migration')
  [ -n "$before" ] && [ "$staying" -gt $((before * 2)) ] && status=0 || status=1
  result "$link: the baseline moves: $staying ps, $before ps with nothing placed" "$status"
  difference=$(sed -n 's/^ Baseline: .*(\([+-][0-9.]*\) %)$/\1/p' "$work/verdict")
  near "$(awk -v d="$difference" 'BEGIN { print 100 + d }')" 100 5 && status=0 || status=1
  result "$link: with nothing placed, against a run with everything on the host: $difference %" "$status"
  grep -q '^ Placed functions have allocated up to [0-9.]* [KM]iB with malloc' "$work/verdict" &&
    grep -q '^ With nothing placed that is ordinary memory. To the host [0-9,]* accesses to it take' "$work/verdict" &&
    grep -q 'main (baseline.c:[0-9]*) -> parse: .* with nothing placed)' "$work/verdict" && status=0 || status=1
  result "$link: the verdict says why" "$status"
done
"$flick_cc" "${options[@]}" -o "$work/baseline"
"$flick" record --platform flick-isca20 -o "$work/trace" "$work/baseline" >"$work/output" 2>&1
"$flick" report -i "$work/trace" -o "$work/page.html" >>"$work/output"
grep -q '>with nothing placed<' "$work/page.html" &&
  grep -q 'class="verdict[^>]*>Migration [^<]* with nothing placed[.]' "$work/page.html" &&
  grep -q 'Placed functions have allocated' "$work/page.html" &&
  status=0 || status=1
result 'the page says why' "$status"
# It is to be undone, and only that: the table was NxP memory before.
rm -f "$work"/place.undo
"$flick" advise --platform flick-isca20 -o "$work/place.undo" "$work/baseline" >"$work/output" 2>"$work/advice"
grep -q '^host parse ' "$work/place.undo" && ! grep -q '^host scan ' "$work/place.undo" &&
  grep -q 'what they allocate with malloc (up to .*) is in the host' "$work/advice" && status=0 || status=1
result "advice to undo: $(grep -v '^#' "$work/place.undo" | tr '\n' ';')" "$status"
said=$(time_of "$work/advice" 'as advised')
"$flick_cc" "${options[@]}" "--flick-place=$work/place.undo" -o "$work/baseline"
"$flick" stat --platform flick-isca20 -o "$work/verdict" "$work/baseline" >"$work/output"
cmp -s "$work/expected" "$work/output" && near "$(time_of "$work/verdict" 'with migration')" "$said" 5 && status=0 || status=1
result "undone: $(time_of "$work/verdict" 'with migration') ps, $said were predicted" "$status"
! grep -q 'nothing placed' "$work/verdict" && status=0 || status=1
result 'undone: the baseline does not move' "$status"

# Data that nobody has looked at.
"$flick_cc" -O2 -g -Wall -Werror --flick-timed "$here/ordinary.c" -o "$work/ordinary"
"$flick" stat --platform flick-isca20 -o "$work/verdict" "$work/ordinary" >"$work/output"
accesses=$(sed -n 's/^ No data of this run is in NxP memory: \([0-9,]*\) loads and stores .*/\1/p' "$work/verdict" | tr -d ,)
# A key, a head and at least a row's key for each probe.
[ "${accesses:-0}" -gt 250000 ] && [ "$accesses" -lt 1000000 ] && grep -q flick_alloc "$work/verdict" && status=0 || status=1
result "data that was not looked at: $accesses accesses" "$status"
"$flick" advise --platform flick-isca20 -o "$work/place.none" "$work/ordinary" >"$work/output" 2>"$work/advice"
grep -q 'nothing to gain by moving functions, with the data where it is' "$work/advice" &&
  grep -q '^ No data of this run is in NxP memory' "$work/advice" &&
  grep -q '^ Most of them: probe (ordinary.c:[0-9]*) ([0-9,]*)' "$work/advice" && status=0 || status=1
result 'advice on such data' "$status"
"$flick" record --platform flick-isca20 -o "$work/trace" "$work/ordinary" >"$work/output" 2>&1
"$flick" report -i "$work/trace" -o "$work/page.html" >>"$work/output"
grep -q 'No data of this run is in NxP memory' "$work/page.html" && status=0 || status=1
result 'the page on such data' "$status"

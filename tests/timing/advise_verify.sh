# Tests `flick advise --verify`: it builds by the advice, and keeps what a run has made faster.
# run.sh sources this file.

rm -rf "$work/verify"
mkdir -p "$work/verify"
# A build as users have it: it says nothing of placements.
printf 'prog: %s\n\t%s -O2 -g -Wall -Werror --flick-timed $< -o %s\n' "$here/verified_advice.c" "$flick_cc" \
  "$work/verify/prog" >"$work/verify/Makefile"
make -s -B -C "$work/verify"
"$work/verify/prog" >"$work/expected"
# verified BUILD…
verified() {
  rm -f "$work"/verify/place*
  "$flick" advise --platform flick-isca20 -o "$work/verify/place" --verify "$work/verify/prog" -- "$@" \
    >"$work/output" 2>"$work/advice"
}

verified true && status=0 || status=$?
[ "$status" = 1 ] && grep -q 'FLK0118.*none of the functions' "$work/advice" && grep -q 'make -B' "$work/advice" &&
  grep -q '^nxp  parse ' "$work/verify/place" && status=0 || status=1
result 'verified advice: a build that builds nothing' "$status"
verified sh -c 'seq 100; echo no compiler >&2; exit 3' && status=0 || status=$?
[ "$status" = 1 ] && grep -q 'FLK0118.*it ended with status 3' "$work/advice" && grep -q '^  no compiler$' "$work/advice" &&
  grep -q '^  100$' "$work/advice" && ! grep -q '^  1$' "$work/advice" && status=0 || status=1
result 'verified advice: a build that fails, with the end of its output' "$status"

# What `parse` allocates is far from the host from then on.
verified make -s -B -C "$work/verify" && status=0 || status=$?
[ "$status" = 0 ] && grep -q '^ *1 .* +[0-9.]* %  nxp parse, nxp scan$' "$work/advice" &&
  grep -q '^ *dropped, worse there: parse$' "$work/advice" && grep -q '^ *2 .* %  nxp scan$' "$work/advice" &&
  status=0 || status=1
result "verified advice: what made it worse is dropped: $(grep -c ' %  nxp' "$work/advice") rounds" "$status"
entries=$(sed -n 's/ *#.*//; s/^\(nxp\|host\|both\) */\1 /p' "$work/verify/place")
[ "$entries" = 'nxp scan' ] && grep -q '^ The placement of round 2 is in ' "$work/advice" && status=0 || status=1
result "verified advice: the best placement is left: $entries" "$status"
said=$(awk '$1 == 2 && $NF == "scan" { print $2 " " $3 "  as predicted" }' "$work/advice" >"$work/round" && time_of "$work/round" predicted)
"$flick" stat --platform flick-isca20 -o "$work/verdict" "$work/verify/prog" >"$work/output"
took=$(time_of "$work/verdict" 'with migration')
[ "$took" = "$(time_of "$work/advice" '  obtained    ')" ] && near "$took" "$said" 5 && cmp -s "$work/expected" "$work/output" &&
  status=0 || status=1
result "verified advice: the program is built by it, and takes $took ps, $said were predicted" "$status"

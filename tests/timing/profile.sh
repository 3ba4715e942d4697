# The profile that `flick advise` reads. Sourced by run.sh.

"$flick_cc" -O2 -Wall -Werror --flick-timed "$here/profile.c" -o "$work/profile"
rm -f "$work/record"
"$work/profile" >"$work/expected"
status=0
FLICK_PROFILE=functions FLICK_STATS=$work/record FLICK_PLATFORM=near-memory "$work/profile" >"$work/output" || status=$?
[ "$status" != 0 ] || cmp -s "$work/expected" "$work/output" || status=1
result "a profiled program does what it does" "$status"
awk '$1 == "timed-function" { name[count++] = $9 }
  $1 == "timed-edge" { print name[$2], name[$3], $4 }' "$work/record" >"$work/edges"
sed -n 's,^// EDGE: ,,p' "$here/profile.c" | while read -r edge; do
  grep -Fxq "$edge" "$work/edges" || echo "$edge"
done >"$work/missing"
[ ! -s "$work/missing" ] && status=0 || status=1
result "the profile's calls: missing $(tr '\n' ';' <"$work/missing")" "$status"
# The library calls back: no instrumented function does.
! grep -Eq '^(main|differs) compares' "$work/edges" && grep -q ' compares ' "$work/edges" && status=0 || status=1
result "who calls back: $(grep ' compares ' "$work/edges" | tr '\n' ';')" "$status"
# Nothing is lost: what functions spend themselves is what the shares say.
awk '$1 == "timed-share" && $2 == "migrating" && !/crossings/ { shares += $3 }
  $1 == "timed-function" { own += $2 == "nxp" ? $5 : $4 }
  END { exit !(own > 0.99 * shares && own < 1.01 * shares) }' "$work/record" && status=0 || status=1
result "the profile's times add up" "$status"

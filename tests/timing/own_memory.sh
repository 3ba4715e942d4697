# Tests the host's own memory in virtual time: closed forms, and a hash join in ordinary memory.
# run.sh sources this file.

for link in -pie -static; do
  [ $link = -pie ] && code=-fPIE || code=-fno-pie
  options=(-O2 -Wall -Werror --flick-timed $code $link)
  "$flick_cc" "${options[@]}" "$here/own_memory.c" -o "$work/own_memory"
  for form in chase_nearest chase_second chase_memory stream scattered listed fill copy local variable; do
    status=0
    said=$(FLICK_PLATFORM=$here/own_memory.toml "$work/own_memory" "$form") || status=$?
    result "own memory $link, $said" "$status"
  done
done

# The same join twice: with its table in ordinary memory, which the placed function reaches across the
# link, and in NxP memory. With nothing placed both take the same, and --verify-baseline finds that.
for where in malloc nxp; do
  "$flick_cc" -O2 -Wall -Werror --flick-timed -DTABLE_"$where" "$here/hash_join.c" -o "$work/hash_join"
  "$flick" stat --platform "$here/own_memory.toml" --verify-baseline -o "$work/join" "$work/hash_join" >"$work/output"
  declare "before_$where=$(time_of "$work/join" '  with nothing placed')"
  declare "migrating_$where=$(time_of "$work/join" '  with migration')"
  first=$(grep -n -m1 -e '  with ' "$work/join")
  [[ $first == *'with nothing placed'* ]] && grep -q "^ The host's own memory: of lines" "$work/join" && status=0 || status=1
  result "join, $where: what there was before leads the report" "$status"
  difference=$(sed -n 's/^ Baseline: .*(\([+-][0-9.]*\) %)$/\1/p' "$work/join")
  near "$(awk -v d="$difference" 'BEGIN { print 100 + d }')" 100 10 && status=0 || status=1
  result "join, $where: with nothing placed, against a run with everything on the host: $difference %" "$status"
done
near "$before_malloc" "$before_nxp" 3 && status=0 || status=1
result "join: with nothing placed it does not matter where the data is: $before_malloc ps, $before_nxp ps" "$status"
# The host has several lines under way at a time, and caches. This NxP has neither.
[ "$migrating_malloc" -gt "$migrating_nxp" ] && [ "$migrating_nxp" -gt "$before_nxp" ] && status=0 || status=1
result "join: $migrating_malloc ps from the NxP across the link, $migrating_nxp ps beside it" "$status"

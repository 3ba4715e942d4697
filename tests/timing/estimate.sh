# Compares two times of functions on the NxP: the estimate from a run in which they are on the host,
# and the time of a run in which they are there. run.sh sources this file.

# profile_of PROGRAM RECORD OUTPUT
profile_of() {
  rm -f "$work/$2"
  FLICK_PROFILE=functions FLICK_STATS=$work/$2 FLICK_PLATFORM=$platform "$work/$1" >"$work/$3"
}
functions=(bytes depth divide fill mix norm scale sort sum_of_ints)
printf 'nxp %s\n' "${functions[@]}" >"$work/place.all"
for level in -O1 -O2 -Os; do
  options=($level -Wall -Werror --flick-timed "$here/estimate.c")
  "$flick_cc" "${options[@]}" -o "$work/estimate"
  "$flick_cc" "${options[@]}" "--flick-place=$work/place.all" -o "$work/estimate_there"
  for platform in flick-isca20 near-memory; do
    profile_of estimate record expected
    profile_of estimate_there record.there output
    cmp -s "$work/expected" "$work/output" && status=0 || status=1
    result "estimates $level: the programs do the same" "$status"
    # Within a twentieth, each.
    awk 'FNR == NR { if ($1 == "timed-function") said[$9] = $5; next }
      $1 == "timed-function" && $2 == "nxp" {
        off = said[$9] / $5 - 1
        if (off > -0.05 && off < 0.05) good++
        else printf "%s: %d ps, %d were predicted\n", $9, $5, said[$9]
      }
      END { exit good != '${#functions[@]}' }' "$work/record" "$work/record.there" >"$work/off" && status=0 || status=1
    result "estimates $level on $platform: $(tr '\n' ';' <"$work/off")" "$status"
  done
done

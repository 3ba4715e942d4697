# Tests the placement that `flick advise` proposes, and that a build by it takes the predicted time.
# run.sh sources this file.

# Picoseconds of the last advice's line with these words.
advised() {
  awk -v words="$1" 'index($0, words) {
    split("ps ns us ms s", unit); factor["ps"] = 1
    for (i = 2; i <= 5; i++) factor[unit[i]] = factor[unit[i - 1]] * 1000
    printf "%.0f\n", $1 * factor[$2]; exit }' "$work/advice"
}

# advise NAME SOURCE PLATFORM ENTRY…: builds, asks, builds again by the answer, which has these
# entries.
advise() {
  local name=$1 source=$2 platform=$3 compiler=$flick_cc
  shift 3
  [ "${source##*.}" = c ] || compiler=$flick_cxx
  local options=(-O2 -g -Wall -Werror --flick-timed "$source")
  rm -f "$work"/place "$work"/place.*
  "$compiler" "${options[@]}" -o "$work/advised"
  "$flick" advise --platform "$platform" -o "$work/place" "$work/advised" >"$work/output" 2>"$work/advice"
  local entries status=0
  entries=$(sed -n 's/ *#.*//; s/^\(nxp\|host\|both\) */\1 /p' "$work/place" | sort | tr '\n' ';')
  [ "$entries" = "$(printf '%s;' "$@")" ] || status=$?
  result "$name: the placement: $entries" "$status"
  local said
  said=$(advised 'as advised')
  "$compiler" "${options[@]}" "--flick-place=$work/place" -o "$work/advised"
  "$flick" advise --platform "$platform" -o "$work/place.again" "$work/advised" >"$work/second" 2>"$work/advice"
  cmp -s "$work/output" "$work/second" && status=0 || status=$?
  result "$name: the program does the same" "$status"
  grep -q 'nothing to gain' "$work/advice" && [ ! -e "$work/place.again" ] && status=0 || status=$?
  result "$name: nothing more to move" "$status"
  # Within a twentieth.
  awk -v said="$said" -v took="$(advised 'as it is')" \
    'BEGIN { exit !(said > 0 && took > 0.95 * said && took < 1.05 * said) }' && status=0 || status=$?
  result "$name: $(advised 'as it is') ps, $said were predicted" "$status"
}

advise 'advice on C' "$here/advise.c" flick-isca20 'both weigh' 'host poke' 'nxp walk'
advise 'advice on C++' "$here/advise.cpp" flick-isca20 'both _ZNK6Circle4areaEl' \
  'both _ZNK6Square4areaEl' 'host _ZL4pokeR5Shape' 'nxp _ZL5totalI5ShapeElPKT_l'
advise 'advice where the NxP has no multiplier' "$here/lookup.c" flick-isca20 'nxp fill' 'nxp look_up'

# What cannot move is told with the reason.
"$flick_cc" -O2 -g --flick-timed "$here/advise.c" -o "$work/advised"
FLICK_PLATFORM=near-memory "$flick" advise -o "$work/place" "$work/advised" 2>"$work/advice" >/dev/null
grep -q '^ .* main (advise.c:[0-9]*): on the host, where the program begins' "$work/advice" && status=0 || status=$?
result 'advice: main stays' "$status"

"$flick_cc" -O2 "$here/advise.c" -o "$work/advised"
rm -f "$work"/place.*
"$flick" advise --platform near-memory -o "$work/place.none" "$work/advised" >"$work/output" 2>"$work/advice" &&
  status=0 || status=$?
[ "$status" = 1 ] && grep -q FLK0112 "$work/advice" && [ ! -e "$work/place.none" ] && status=0 || status=1
result 'advice: a program that was not built for it' "$status"

# Tests that advice is against the program with nothing placed, and counts the host's own memory.
# run.sh sources this file.

platform=$here/own_memory.toml
options=(-O2 -g -Wall -Werror --flick-timed)

# asks PLACE PROGRAM [PLATFORM]: the advice, in `advice`
asks() {
  rm -f "$work/$1"
  "$flick" advise --platform "${3:-$platform}" -o "$work/$1" "$work/$2" >"$work/output" 2>"$work/advice"
}
# What a run of a program takes: takes PROGRAM WORDS [PLATFORM] [VARIABLE=VALUE]
takes() {
  env ${4:+"$4"} "$flick" stat --platform "${3:-$platform}" -o "$work/verdict" "$work/$1" >"$work/output"
  time_of "$work/verdict" "$2"
}
leads() { [[ $(grep -m1 ' s  \|ms  \|us  ' "$work/advice") == *'with nothing placed' ]]; }

# A join over 64 MB of malloc. Nothing is placed: all of it is priced by the host's own memory.
"$flick_cc" "${options[@]}" "$here/malloc_join.c" -o "$work/join"
before=$(takes join '  with nothing placed')
asks place.join join
leads && [ "$(time_of "$work/advice" 'as it is')" = "$before" ] && status=0 || status=1
result "join over 64 MB: the profile takes what the run takes: $before ps" "$status"
! grep -q 'No data of this run' "$work/advice" && grep -q "^ The host's own memory: of lines" "$work/advice" &&
  grep -q 'nothing to gain by moving functions$' "$work/advice" && [ ! -e "$work/place.join" ] &&
  grep -q '^ The most time ([0-9.]* %) is that of fill (malloc_join.c:[0-9]*): .* on the host, .* on the NxP, and .* of crossings' \
    "$work/advice" && status=0 || status=1
result 'join over 64 MB: nothing to gain, and why' "$status"

# Placed, it reaches the table across the link. Back on the host it takes as long as before.
"$flick_cc" "${options[@]}" -DPLACED "$here/malloc_join.c" -o "$work/join.placed"
asks place.join join.placed
said=$(time_of "$work/advice" 'as advised')
leads && grep -q '^host join ' "$work/place.join" && grep -q 'as it is .*x slower than with nothing placed' "$work/advice" &&
  near "$said" "$before" 2 && status=0 || status=1
result "join over 64 MB, placed: back to the host: $said ps, $before before" "$status"
"$flick_cc" "${options[@]}" -DPLACED "--flick-place=$work/place.join" "$here/malloc_join.c" -o "$work/join.back"
took=$(takes join.back 'with migration')
near "$took" "$said" 2 && status=0 || status=1
result "join over 64 MB, back on the host: $took ps, $said were predicted" "$status"

rm -f "$work/place.undone"
"$flick" advise --platform "$platform" -o "$work/place.undone" --verify "$work/join.placed" -- \
  "$flick_cc" "${options[@]}" -DPLACED "$here/malloc_join.c" -o "$work/join.placed" >"$work/output" 2>"$work/advice"
grep -q '^ *1 .* %  host join$' "$work/advice" && grep -q '^host join ' "$work/place.undone" &&
  ! grep -q 'dropped' "$work/advice" && status=0 || status=1
result "join over 64 MB, back on the host: verified: $(sed -n 's/^ *1 .* \([+-][0-9.]* %\) .*/\1/p' "$work/advice")" "$status"

# Where the NxP is beside the host's memory, the other answer is right.
beside="$platform,nxp.memory.host.load=1 ns"
asks place.beside join "$beside"
said=$(time_of "$work/advice" 'as advised')
grep -q '^nxp  fill ' "$work/place.beside" && grep -q 'as advised .*x faster than with nothing placed' "$work/advice" &&
  status=0 || status=1
result "join beside the host's memory: $said ps as advised, $before before" "$status"
"$flick_cc" "${options[@]}" "--flick-place=$work/place.beside" "$here/malloc_join.c" -o "$work/join.beside"
took=$(takes join.beside 'with migration' "$beside")
near "$took" "$said" 10 && [ "$took" -lt "$before" ] && status=0 || status=1
result "join beside the host's memory: $took ps, $said were predicted" "$status"

# The data is in NxP memory: no placement is as fast as the program without flick_alloc.
"$flick_cc" "${options[@]}" -DTABLE_nxp "$here/hash_join.c" -o "$work/join.data"
asks place.data join.data
leads && grep -q 'flick_alloc(FLICK_MEM_NXP, size) out' "$work/advice" && [ ! -e "$work/place.data" ] && status=0 || status=1
result 'join with its data in NxP memory: nothing worse than before is advised' "$status"

# The heap has moved along with the placement.
"$flick_cc" "${options[@]}" "$here/grown_heap.c" -o "$work/grown"
truth=$(takes grown 'with migration' flick-isca20 FLICK_OFFLOAD=off)
migrating=$(takes grown 'with migration' flick-isca20)
staying=$(time_of "$work/verdict" 'without migration')
before=$(time_of "$work/verdict" '  with nothing placed')
[ "$staying" -gt $((before * 10)) ] && near "$migrating" "$staying" 25 && near "$before" "$truth" 10 && status=0 || status=1
result "a heap that moves along: $migrating ps, $staying staying, $before before, $truth in a run on the host" "$status"
factor=$(sed -n 's/.* with migration *# \([0-9.]*\)x slower than with nothing placed$/\1/p' "$work/verdict")
asks place.grown grown flick-isca20
near "$(awk -v f="${factor:-0}" -v a="$migrating" -v b="$before" 'BEGIN { print 100 * f * b / a }')" 100 1 && leads &&
  grep -qF "as it is           # ${factor}x slower than with nothing placed" "$work/advice" && status=0 || status=1
result "a heap that moves along: stat and advise say ${factor}x slower than before" "$status"
grep -q '^host tree ' "$work/place.grown" && status=0 || status=1
result 'a heap that moves along: what allocates goes back' "$status"
"$flick_cc" "${options[@]}" "--flick-place=$work/place.grown" "$here/grown_heap.c" -o "$work/grown.back"
took=$(takes grown.back 'with migration' flick-isca20)
near "$took" "$truth" 5 && status=0 || status=1
result "a heap that moves along, undone: $took ps" "$status"

# Flame graphs, for which the tracer follows the NxP's calls. run.sh sources this file.

# Names and counts of the frames in the page's graph "On the NxP".
frames_on_nxp() { # PROGRAM TIMES
  "$flick" record --platform flick-isca20 -o "$work/trace" "$1" "$2" >"$work/output" 2>&1 &&
    "$flick" report -i "$work/trace" -o "$work/page.html" >>"$work/output" 2>&1 &&
    sed -n '/On the NxP<.h3>/,/If all stays on the host<.h3>/p' "$work/page.html" | grep -o '<title>[^(]*' | sort | uniq -c
}
for link in -pie -static; do
  [ $link = -pie ] && code=-fPIE || code=-fno-pie
  "$flick_cxx" -O2 -g -Wall -Werror --flick-timed $code $link "$here/frames.cpp" -o "$work/frames"
  frames_on_nxp "$work/frames" 20 >"$work/few" && frames_on_nxp "$work/frames" 200 >"$work/many" &&
    cmp "$work/few" "$work/many" && status=0 || status=1
  result "$link: the frames of samples do not grow with the calls" "$status"
  [ "$status" = 0 ] || diff "$work/few" "$work/many" | head -20 || true
  # A function that is called by a pointer has its name.
  grep -q ' <title>leaf $' "$work/many" && ! grep -q '<title>[?]' "$work/many" && status=0 || status=1
  result "$link: every frame has a name" "$status"
done

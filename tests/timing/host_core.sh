# Tests the host's core in virtual time: chains of operations, operations side by side, branches and calls
# that are predicted, and page faults. run.sh sources this file.

for link in -pie -static; do
  [ $link = -pie ] && code=-fPIE || code=-fno-pie
  "$flick_cc" -O2 -Wall -Werror -std=gnu23 --flick-timed $code $link "$here/host_core.c" -o "$work/host_core"
  for form in chain two apart rows long_rows branches random_branches targets random_targets faults; do
    status=0
    said=$(FLICK_PLATFORM=$here/host_core.toml "$work/host_core" "$form") || status=$?
    result "host core $link, $said" "$status"
  done
done
"$flick" stat --platform "$here/host_core.toml" "$work/host_core" faults >"$work/output" 2>&1 &&
  grep -q ' page faults$' "$work/output" && grep -q 'It has [0-9,]* page faults\.' "$work/output" && status=0 || status=1
result "host core: page faults are told" "$status"

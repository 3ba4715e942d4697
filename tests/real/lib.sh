# Helpers of run.sh and world.sh: steps of a project with their logs, placed functions, crossings. A
# script sources this file after scripts/lib.sh, and after it has set $out, the folder of the logs.
passed=0 failed=0

# A step of a project, in its directory; the log is shown if it fails.
step() { # PROJECT WHAT COMMAND...
  local name=$1-$2 start=$SECONDS
  shift 2
  if ("$@") >"$out/$name.log" 2>&1; then
    passed=$((passed + 1))
    echo "    ok   $name ($((SECONDS - start)) s)"
  else
    failed=$((failed + 1))
    echo "    FAIL $name: the last lines of $out/$name.log:"
    tail -n 15 "$out/$name.log" | sed 's/^/         /'
    return 1
  fi
}

# Every program and library with an image, below the current directory.
programs() {
  find . -type f \( -perm -100 -o -name '*.so*' \) -exec sh -c \
    'for f; do if readelf -SW "$f" 2>/dev/null | grep -qF .flick.elf; then echo "$f"; fi; done' sh {} +
}

# The table of all of them, in the file `explained`.
explain() {
  local files
  mapfile -t files < <(programs)
  [ ${#files[@]} -gt 0 ] || { echo "no file has NxP code" && return 1; }
  for file in "${files[@]}"; do "$flick" place --explain --no-demangle "$file" || return 1; done >explained
}

# Of a statistics record (docs/records.md).
sum() { awk -v key="$1" '$1 == key { n += $2 } END { printf "%.0f", n }' "$2"; } # KEY FILE
crossings() { awk -v way="$1" '$1 == "call" && $2 == way { n += $3 } END { printf "%.0f", n }' "$2"; } # WAY FILE

# A copy of the tree that is changed on purpose, built and tested apart. Source it with `root` (the
# sources) and `work` (a folder that is kept, so that a second run builds less) set.
tree=$work/tree
log=$work/log
mkdir -p "$tree"
: >"$log"

# Copies the tree with uncommitted changes. Files that differ get a new time stamp, so that cargo
# and make see them.
copy() {
  local file
  (cd "$root" && git ls-files -co --exclude-standard) | while read -r file; do
    [ -f "$root/$file" ] || continue
    cmp -s "$root/$file" "$tree/$file" && continue
    mkdir -p "$tree/$(dirname "$file")"
    rm -f "$tree/$file"
    cp "$root/$file" "$tree/$file"
  done
  # A file that is gone from the sources must not live on in the copy.
  (cd "$tree" && find . -type f -printf '%P\n') | while read -r file; do
    [ -f "$root/$file" ] || rm "$tree/$file"
  done
}

# Without link-time optimisation, which takes most of the time of a build and changes no behaviour.
in_tree() {
  (cd "$tree" && CARGO_TARGET_DIR=$work/target CARGO_PROFILE_RELEASE_LTO=off \
    CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 FLICK_ROOT=$work/build "$@") >>"$log" 2>&1
}
build() { in_tree make -s BUILD="$work/build" build; }

# No test may take long, because a test that never ends must fail, too. The programs are built in
# `programs`.
programs=$work/corpus
corpus() {
  timeout 600 "$work/target/release/flick-test" --flick "$work/build/bin/flick-cc" --tests "$root/tests" \
    --include "$root/include" --work "$programs" --show 3 "$@"
}

# Builds the copy, and the runner of the tests; shows the end of the log if it cannot.
prepare() {
  echo "Building the tree as it is in $work"
  copy
  build && in_tree "${CARGO:-cargo}" build -q --release -p flick-tests && return 0
  tail -n 30 "$log"
  return 1
}

# Up to three programs that failed, from the output of flick-test.
caught_by() { sed -n 's/^FAILED \([^ ]*\).*/\1/p' "$1" | sort -u | head -n 3 | paste -sd ' '; }

# For the cases with ccache: the project tally, built through it again and again.
. "$FLICK_TEST_PROJECTS/lib.sh"
unset CCACHE_DISABLE
export CCACHE_DIR=$here/cache CCACHE_CONFIGPATH=$here/ccache.conf
# Files that this test wrote a moment ago are no reason to leave direct mode.
export CCACHE_SLOPPINESS=include_file_mtime,include_file_ctime

stat_of() { ccache --print-stats | awk -v name="$1" '$1 == name { print $2 }'; }
hits() { echo $(($(stat_of direct_cache_hit) + $(stat_of preprocessed_cache_hit))); }
# The scores that the two plugins gave, first to last.
scores() { sed -n 's/^score //p' "$here/have.out" | head -n 2 | tr '\n' ' '; }

# The case defines the functions `build` and `clean` (removes all objects), the paths `program` and
# `plugins`, `source` (the copy that is built), and `units`, the number of sources that a build
# compiles.
rounds() {
  local mode one two
  for mode in direct preprocessor depend; do
    echo "--- $mode mode"
    begin $mode
    read -r one two <<<"$(scores)"
    [ "$(hits)" = 0 ] && [ "$(stat_of cache_miss)" = "$units" ] || die "not through ccache: $(ccache -s -v)"

    # NxP code alone: of the plugin `length`.
    edit plugins/length.c 's/return length \*/return 3 * length */'
    round "NxP code changed"
    [ "$(scores)" = "$((3 * one)) $two " ] || die "stale NxP code: $(scores)"
    [ "$(stat_of cache_miss)" = 1 ] || die "not just one unit compiled: $(ccache -s -v)"

    # Only the placement changes. Objects that were compiled before must not come back.
    edit tally.place 's/^nxp tally_checksum/host tally_checksum/'
    round "placement changed"
    if grep -q 'host-to-nxp.*tally_checksum' "$here/record"; then die "stale placement"; fi
    edit tally.place 's/^host tally_checksum/nxp tally_checksum/'
    round "placement restored"
    grep -q 'host-to-nxp.*tally_checksum' "$here/record" || die "stale placement"

    round "nothing changed"
    all_hits
    edit plugins/length.c 's/return 3 \* length \*/return length */'
    round "NxP code restored"
    [ "$(scores)" = "$one $two " ] || die "stale NxP code: $(scores)"
    all_hits
  done
}
begin() { # MODE: with an empty cache
  unset CCACHE_NODIRECT CCACHE_DEPEND
  case $1 in
  preprocessor) export CCACHE_NODIRECT=1 ;;
  depend) export CCACHE_DEPEND=1 ;;
  esac
  rm -rf "$CCACHE_DIR"
  round cold
}
# A changed pass is another compiler, so no object of the old compiler may come back. The tree is
# changed as `make build` changes it (Makefile, `tree`).
another_flick() {
  local check mode
  mkdir other
  cp -a "$flick_root"/{bin,lib,include} other/
  PATH=$here/other/bin:$PATH
  for mode in direct preprocessor depend; do
    # By time and size, as is the default, or by content.
    [ $mode = direct ] && check=mtime || check=content
    export CCACHE_COMPILERCHECK=$check
    echo "--- another pass, compiler check $check, $mode mode"
    begin $mode
    round "the same pass"
    all_hits
    printf ' ' >>other/lib/flick/flick-pass.so
    sha256sum <other/lib/flick/flick-pass.so >hash
    llvm-objcopy-19 --update-section=.flick.pass=hash other/bin/flick new
    [ $check = mtime ] || touch -r other/bin/flick new
    mv new other/bin/flick
    round "another pass"
    [ "$(hits)" = 0 ] || die "objects of the old pass: $(ccache -s -v)"
  done
}
round() { # WHAT: builds everything again, and runs it
  echo "--- $1"
  clean
  ccache -z >/dev/null
  build
  require "$program" "$source/sample.txt" "$plugins/length.so" "$plugins/vowels.so" >"$here/have.out"
  cat "$here/have.out"
}
all_hits() {
  [ "$(stat_of cache_miss)" = 0 ] && [ "$(hits)" = "$units" ] || die "not all from the cache: $(ccache -s -v)"
}
edit() { # FILE SED-SCRIPT
  cp "$source/$1" before
  sed -i "$2" "$source/$1"
  ! cmp -s before "$source/$1" || die "nothing to edit in $1: $2"
}

# Helpers for cases/*.sh, which run with `bash -eu` in an empty directory of their own.
projects=$FLICK_TEST_PROJECTS
flick_root=$FLICK_TEST_ROOT
here=$PWD

die() {
  echo "FAILED: $*"
  exit 1
}
# Ends the case where a part of the card was not built, which is a failure in CI.
need_card() { # PART...
  local part
  for part; do
    [ -e "$flick_root/lib/flick/card/$part" ] && continue
    echo "skipped: no $part (make says why)"
    [ -z "${CI:-}" ]
    exit
  done
}
# A copy of a sample project, which the case may edit.
copy() { # PROJECT DIR
  cp -R "$projects/$1" "$2"
}
# The copy's compiler, with the project's placement file.
with_place() { # DIR
  echo "flick-cc --flick-place='$1/tally.place'"
}
# Runs a program, with its placed functions on the NxP, and prints its output. Fails if it ran on
# the host. Its statistics are in `record`.
require() { # COMMAND...
  rm -f "$here/record"
  env -u LD_LIBRARY_PATH FLICK_OFFLOAD=require FLICK_STATS="$here/record" "$@"
}
# The same output, and these functions were called from the host in these modules of one runtime.
same() { # WANT-FILE FUNCTION@MODULE... -- COMMAND...
  local want=$1 expected=()
  shift
  while [ "$1" != -- ]; do
    expected+=("$1")
    shift
  done
  shift
  require "$@" >have.out || die "exit status $?: $*"
  diff "$want" have.out || die "another output: $*"
  crossed "${expected[@]}"
}
crossed() { # FUNCTION@MODULE...: what the record says
  local each
  [ "$(grep -c '^pid ' "$here/record")" = 1 ] || die "not one runtime: $(cat "$here/record")"
  for each; do
    grep -qP "^call host-to-nxp [1-9][0-9]* ${each%@*}\t${each#*@}(\t|\$)" "$here/record" ||
      die "no call of ${each%@*} in ${each#*@}: $(cat "$here/record")"
  done
}
# The calls of a program of the project tally that is placed by tally.place.
tally_functions() { # PROGRAM LIBRARY
  echo "table_add@$1 tally_checksum@$2 tally_plugin_score@length.so tally_plugin_score@vowels.so"
}
# tally's own tests and program over the sample text with both plugins, against plain clang's
# output.
run_tally() { # WANT PROGRAM PLUGINS
  same "$1" $(tally_functions "$(basename "$(readlink -f "$2")")" 'libtally.so[.0-9]*') -- \
    "$2" "$projects/tally/sample.txt" "$3/length.so" "$3/vowels.so"
}
plain_tally() { # PROGRAM PLUGINS
  "$1" "$projects/tally/sample.txt" "$2/length.so" "$2/vowels.so"
}

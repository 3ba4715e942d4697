#!/bin/bash
# Virtual time against formulas, and its independence of what a machine does. `tests/timing/run.sh [FORM…]`
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
work=$build/test/timing
mkdir -p "$work"
passed=0 failed=0

verdict() {
  if [ "$2" = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $1"
  fi
}

# platform NAME KEY=VALUE…: a platform in which all else is free
platform() {
  local name=$1
  shift
  local text
  text=$(<"$here/base.toml.in")
  local pair
  for pair in "$@" 'host-load=0 ns' 'nxp-load=0 ns' 'host-bandwidth=100 TB/s' \
    'nxp-bandwidth=100 TB/s' int=0 'link=0 ns' more=; do
    text=${text//"@${pair%%=*}@"/"${pair#*=}"}
  done
  # Bandwidth without an end is no key at all.
  grep -v '100 TB/s' <<<"$text" >"$work/$name.toml"
}

platform latency 'host-load=300 ns' 'nxp-load=100 ns'
platform bandwidth 'host-bandwidth=500 MB/s' 'nxp-bandwidth=1 GB/s'
platform instructions int=1
platform tlb $'more=[nxp.tlb]\nentries = 1\nwalk = "1 us"'
platform cache 'nxp-load=100 ns' \
  $'more=[[nxp.cache]]\nsize = "1 KiB"\nline = "64 B"\nways = 1\nholds = ["nxp"]'
platform link 'link=5 us'
platform free

"$flick_cc" -O2 -Wall -Werror "$here/closed_forms.c" -o "$work/closed_forms"
for form in "${@:-latency bandwidth instructions tlb cache link free}"; do
  for form in $form; do
    status=0
    FLICK_PLATFORM=$work/$form.toml "$work/closed_forms" "$form" || status=$?
    verdict "closed form: $form" "$status"
  done
done
[ $# = 0 ] || exit "$((failed > 0))"

echo "$passed passed, $failed failed"
exit "$((failed > 0))"

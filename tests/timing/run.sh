#!/bin/bash
# Checks virtual time against formulas, and its independence of the machine and of other work on it:
# `tests/timing/run.sh [FORM…]`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib.sh"
work=$build/test/timing
mkdir -p "$work"
passed=0 failed=0
result_log=

# platform NAME KEY=VALUE…: makes a platform in which all other costs are 0
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
  # A memory of unlimited bandwidth has no key for it.
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
    result "closed form: $form" "$status"
  done
done
[ $# = 0 ] || exit "$((failed > 0))"

for link in -pie -static; do
  [ $link = -pie ] && code=-fPIE || code=-fno-pie
  options=(-O2 -Wall -Werror --flick-timed $code $link)
  "$flick_cc" "${options[@]}" "$here/threads.c" -o "$work/threads"
  "$flick_cxx" "${options[@]}" "$here/threads.cpp" -o "$work/threads_of_cxx"
  for run in 1 2 3; do
    for program in threads threads_of_cxx; do
      status=0
      FLICK_PLATFORM=$work/latency.toml "$work/$program" || status=$?
      result "$program $link, run $run" "$status"
    done
  done
done

. "$here/ordered.sh"
. "$here/not_exact.sh"
. "$here/timers.sh"
. "$here/frames.sh"
. "$here/profile.sh"
. "$here/advise.sh"
. "$here/baseline.sh"
. "$here/platforms.sh"
. "$here/estimate.sh"
. "$here/own_memory.sh"
. "$here/host_core.sh"
. "$here/advise_before.sh"
. "$here/advise_verify.sh"

# Threads begin at their creator's times in a trace, too. So its time line ends at the predicted
# time.
time_line() {
  "$flick" record --platform="$work/latency.toml" -o "$work/trace" "$work/threads" 2>"$work/output" || return 1
  "$flick" report -i "$work/trace" -o "$work/page.html" >>"$work/output" || return 1
  local predicted
  predicted=$(sed -n 's/.*>with migration<.*class="number">\([^<]*\)<.*/\1/p' "$work/page.html")
  [ -n "$predicted" ] && grep -q "<span>$predicted</span></div></div>" "$work/page.html"
}
status=0
time_line || status=$?
result "the time line of threads" "$status"

# The prediction of a run does not depend on where and how it runs.
prediction() {
  rm -f "$work/record"
  FLICK_STATS=$work/record FLICK_PLATFORM=$platform "$@" "$work/deterministic" >"$work/output" || return 1
  grep '^timed-' "$work/record"
}
large=$(head -c 50000 /dev/zero | tr '\0' x)
busy() {
  local load
  (while :; do :; done) &
  load=$!
  (while :; do :; done) &
  load="$load $!"
  "$@" && status=0 || status=$?
  kill $load
  wait $load 2>/dev/null || true
  return "$status"
}
. "$here/card.sh"
. "$here/card_threads.sh"
. "$here/card_record.sh"
. "$here/bounded_trace.sh"
. "$here/card_tiles.sh"
. "$here/card_isa.sh"
to_pipe() { "$@" | cat; }
other_record() {
  local long=$work/a-record-with-a-much-longer-name-than-the-other-one-has
  rm -f "$long"
  FLICK_STATS=$long "$@" && mv "$long" "$work/record"
}
# If there is an emulator, the run is repeated on another processor.
emulated() {
  if command -v qemu-x86_64 >/dev/null; then
    qemu-x86_64 -cpu Nehalem "$@" 2>/dev/null
  else
    "$@"
  fi
}
for platform in flick-isca20 near-memory; do
  for link in -pie -no-pie -static; do
    [ $link = -pie ] && code=-fPIE || code=-fno-pie
    "$flick_cc" -O2 -Wall -Werror --flick-timed $code $link "$here/deterministic.c" -o "$work/deterministic"
    prediction env >"$work/first"
    while read -r name command; do
      prediction $command >"$work/again" || true
      cmp -s "$work/first" "$work/again" && status=0 || status=$?
      result "$platform $link: the same prediction $name" "$status"
      [ "$status" = 0 ] || diff "$work/first" "$work/again" | head -6 || true
    done <<END
again env
with_a_large_environment env LARGE=$large
with_a_small_environment env -i FLICK_STATS=$work/record FLICK_PLATFORM=$platform
without_address_randomisation setarch -R
on_a_busy_machine busy env
into_a_pipe to_pipe env
with_another_record other_record env
on_another_processor emulated
with_other_functions_of_libc env GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX512F,-ERMS,-AVX_Fast_Unaligned_Load
with_another_malloc env GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.mmap_threshold=4096
END
  done
done

# Predicted beside real time, of two programs in a list. How near they are is no test: the platform is not this machine.
truth=$work/truth
mkdir -p "$truth"/{plain,timed}
pairs=$here/../../bench/truth/pairs.c
echo 'int main(void) { return 0; }' | clang-19 -O2 -x c - -o "$truth/plain/nothing"
clang-19 -O2 -o "$truth/plain/pairs" "$pairs"
"$flick_cc" -O2 --flick-timed -o "$truth/timed/pairs" "$pairs"
for name in chase gather; do
  printf '[[program]]\nname = "%s"\ngroup = "pairs"\nplain = "plain/pairs"\ntimed = "timed/pairs"\n' $name
  printf 'arguments = ["%s", "near"]\npair = "x"\n' $name
done >"$truth/list.toml"
status=0
"$flick" bench truth --programs "$truth" --platform near-memory --repeat 1 -o "$truth/out" >"$truth/said" 2>"$truth/errors" &&
  [ "$(grep -c '^"\(chase\|gather\)",pairs,' "$truth/out/truth.csv")" = 2 ] && cmp -s "$truth/said" "$truth/out/truth.md" &&
  grep -q '^| x ' "$truth/said" && [ -s "$truth/out/truth.svg" ] && [ -s "$truth/out/truth.png" ] || status=1
result "flick bench truth" $status
status=0
"$flick" bench truth --programs "$truth" --platform near-memory --only chace -o "$truth/out" >"$truth/said" 2>"$truth/errors" || status=$?
[ $status != 0 ] && grep -q 'no program is named `chace`' "$truth/errors" && status=0
result "flick bench truth with a name that is not there" $status
sed -i 's/^group/time = 3\ngroup/' "$truth/list.toml"
status=0
"$flick" bench truth --programs "$truth" --platform near-memory -o "$truth/out" >"$truth/said" 2>"$truth/errors" || status=$?
[ $status = 1 ] && grep -q 'FLK0105' "$truth/errors" && grep -q 'unknown field' "$truth/errors" && status=0
result "flick bench truth with a bad list" $status

echo "$passed passed, $failed failed"
exit "$((failed > 0))"

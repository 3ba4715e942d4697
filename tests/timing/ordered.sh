# Threads in the order of virtual time: formulas, and the same prediction in each run, whatever else
# the machine does. Included by run.sh.
. "$here/same_prediction.sh"

for link in -pie -static; do
  [ $link = -pie ] && code=-fPIE || code=-fno-pie
  options=(-O2 -Wall -Werror --flick-timed $code $link)
  "$flick_cc" "${options[@]}" "$here/ordered.c" -o "$work/ordered"
  "$flick_cxx" -std=c++20 "${options[@]}" "$here/ordered.cpp" -o "$work/ordered_of_cxx"
  for form in lock spin barrier queue semaphore atomic pipe sleep; do
    for threads in 2 4 16 64; do
      status=0
      FLICK_PLATFORM=$work/latency.toml timeout 60 "$work/ordered" "$form" "$threads" >"$work/output" || status=$?
      result "$link, closed form: $threads threads, $form" "$status"
      [ "$status" = 0 ] || cat "$work/output"
    done
  done
  # As many runs idle as loaded.
  for platform in near-memory; do
    [ $link = -pie ] || continue
    for form in lock queue atomic pipe; do
      for busy in idle loaded; do
        status=0
        $busy same 10 "$work/ordered" "$form" 16 any || status=$?
        result "$platform $link: the same prediction of 16 threads, $form, $busy" "$status"
      done
    done
    for threads in 1 4 16 64; do
      for busy in idle loaded; do
        status=0
        $busy same 10 "$work/ordered_of_cxx" "$threads" || status=$?
        result "$platform $link: the same prediction of a pool of $threads threads, $busy" "$status"
      done
    done
  done
done

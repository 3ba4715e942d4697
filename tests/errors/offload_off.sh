# FLICK_OFFLOAD=off: the host clones run, with the same output and no crossing.
. "$FLICK_TEST_ERRORS/lib.sh"
program
FLICK_OFFLOAD=require FLICK_STATS=./on status 0 ./prog
has out 42
has on 'offload on' 'call host-to-nxp 1 sum'
for trigger in gate fault; do
  rm -f off
  FLICK_OFFLOAD=off FLICK_TRIGGER=$trigger FLICK_STATS=./off status 0 ./prog
  has out 42
  has off 'offload off' 'faults 0' 'instructions 0' 'threads 0'
  ! grep '^call' off || die "something crossed"
done

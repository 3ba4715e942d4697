# Too little address space for NxP-local memory: `require` says so, otherwise the host clones run.
. "$FLICK_TEST_ERRORS/lib.sh"
program
limited() {
  (ulimit -v "$1" && shift && exec "$@")
}
FLICK_OFFLOAD=require status 125 limited 40000 ./prog
has err '[FLK0403]' '[FLK0402]' 'ulimit -v'
[ ! -s out ] || die "main ran"
FLICK_STATS=$PWD/stats FLICK_OFFLOAD=auto status 0 limited 40000 ./prog
has out 42
has stats 'offload off [FLK0402]'
! grep '^call' stats || die "something crossed"
# With a moderate limit the region is smaller, and everything runs.
FLICK_OFFLOAD=require status 0 limited 2000000 ./prog
has out 42
# So does NxP code, without room for translated code; who asks for that is told.
FLICK_STATS=$PWD/interpreted FLICK_OFFLOAD=require status 0 limited 800000 ./prog
has out 42
has interpreted 'engine interp'
FLICK_STATS=$PWD/none FLICK_ENGINE=translate status 125 limited 800000 ./prog
has err '[FLK0406]' 'FLICK_ENGINE'

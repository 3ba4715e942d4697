# Values of Flick's environment variables that are not understood end the program before main.
. "$FLICK_TEST_ERRORS/lib.sh"
program
for setting in FLICK_OFFLOAD=sometimes FLICK_OFFLOAD=ON FLICK_TRIGGER=both FLICK_ENGINE=fast FLICK_STATS=yes; do
  status 125 env $setting ./prog
  has err '[FLK0404]' "$setting" 'flick explain FLK0404'
  [ ! -s out ] || die "main ran with $setting"
done
for setting in FLICK_OFFLOAD=requrie FLICK_TRIGGER=faults; do
  status 125 env $setting ./prog
  has err "help: did you mean '" 'use one of: '
done
FLICK_OFFLOAD= FLICK_TRIGGER= FLICK_ENGINE= FLICK_STATS= status 0 ./prog
has out 42

# The record that leads the runtime to the image is damaged or of another version: the program does
# not start.
. "$FLICK_TEST_ERRORS/lib.sh"
program
address=$(nm prog | awk '$3 == "__flick_module" { print $1 }')
[ -n "$address" ] || die "no __flick_module"
# The section that holds it tells where it is in the file.
read -r offset < <(readelf -SW prog | sed 's/^ *\[ *[0-9]*\] *//' | while read -r name type start off size rest; do
  case $start in [0-9a-f]*) ;; *) continue ;; esac
  if [ $((16#$address)) -ge $((16#$start)) ] && [ $((16#$address)) -lt $((16#$start + 16#$size)) ] && [ "$type" = PROGBITS ]; then
    echo $((16#$off + 16#$address - 16#$start))
  fi
done)
cp prog bad && flip bad "$offset"
status 125 ./bad
has err '[FLK0308]'
cp prog bad && flip bad $((offset + 8))
status 125 ./bad
has err '[FLK0401]'

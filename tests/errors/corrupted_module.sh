# The record that leads the runtime to the image is damaged or of another version: the program does
# not start.
. "$FLICK_TEST_ERRORS/lib.sh"
program
address=$(nm prog | awk '$3 == "__flick_module" { print $1 }')
[ -n "$address" ] || die "no __flick_module"
# Its place in the file, by the section that holds it.
offset=$(readelf -SW prog | sed -n 's/^ *\[ *[0-9]*\] *//p' |
  while read -r _ type start at size _; do
    [ "$type" = PROGBITS ] || continue
    from=$((16#$address - 16#$start))
    if [ $from -ge 0 ] && [ $from -lt $((16#$size)) ]; then echo $((16#$at + from)); fi
  done | head -n 1)
cp prog bad && flip bad "$offset"
status 125 ./bad
has err '[FLK0308]'
cp prog bad && flip bad $((offset + 8))
status 125 ./bad
has err '[FLK0401]' ./bad

# An object that another version of Flick made: its records carry the version.
. "$FLICK_TEST_ERRORS/lib.sh"
two_objects
read -r offset size < <(section part.o .flick.nxp)
put part.o $((offset + 8)) '\x63\0\0\0'
refuses FLK0303 part.o 'format 99' -- "$cc" main.o part.o -o prog

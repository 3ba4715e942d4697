# Ordinary mistakes are clang's to report, in clang's words and with its status.
. "$FLICK_TEST_ERRORS/lib.sh"
two_objects
printf '#include <flick.h>\nFLICK_NXP int f(void) { return undeclared; }\n' >bad.c
status 1 "$cc" -c bad.c -o bad.o
has err "bad.c:2:32: error: use of undeclared identifier 'undeclared'"
[ ! -e bad.o ] || die "an object was left behind"
status 1 "$cc" part.o -o prog
has err "undefined reference to \`main'"
status 1 "$cc" main.o part.o nosuch.o -o prog
has err nosuch.o
printf '#include <flick.h>\nint missing(int);\nFLICK_NXP int sum(const int *p, int n) { return missing(p[n - 1]); }\nint table[4];\n' >part.c
"$cc" -c part.c -o part.o
status 1 "$cc" main.o part.o -o prog
has err "missing"
! grep -q __flick_call err || die "the message speaks of an internal name:" "$(cat err)"

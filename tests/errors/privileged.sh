# A set-uid program ignores FLICK_* variables: another user must not steer it.
. "$FLICK_TEST_ERRORS/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to make a set-uid program and to run it as somebody else"
command -v setpriv >/dev/null || skip "needs setpriv (util-linux)"
program
place=$(mktemp -d /tmp/flick-test-privileged.XXXXXX)
trap 'rm -rf "$place"' EXIT
chmod 755 "$place"
# The loader ignores run paths with $ORIGIN and unreadable directories: the runtime is static.
"$cc" -static main.o part.o -o "$place/prog"
cp "$place/prog" "$place/plain"
chmod 4755 "$place/prog"
nobody() {
  setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
cd "$place"
chmod 777 .
status 0 nobody ./plain || skip "another user cannot run programs here"
nobody env FLICK_OFFLOAD=nonsense ./plain >/dev/null 2>&1 && die "the variable is not read at all"
[ "$(nobody sh -c 'awk "/^Uid/ { print \$3 }" /proc/self/status')" = 65534 ] || skip "the user did not change"
cat >probe.c <<'C'
#include <sys/auxv.h>
int main(void) { return getauxval(AT_SECURE) ? 0 : 1; }
C
clang-19 probe.c -o probe && chmod 4755 probe
nobody ./probe || skip "set-uid bits have no effect here (no_new_privs or a nosuid mount)"
status 0 nobody env FLICK_OFFLOAD=nonsense FLICK_TRIGGER=nonsense FLICK_STATS="$place/stats" ./prog
has out 42
[ ! -e stats ] || die "it wrote statistics where its user told it to"

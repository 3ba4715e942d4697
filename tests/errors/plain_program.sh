# A program by plain gcc that uses a library made by Flick: libc comes before libflick in symbol
# lookup.
. "$FLICK_TEST_ERRORS/lib.sh"
cat >library.c <<'C'
#include <flick.h>
FLICK_NXP int placed(int x) { return x + 1; }
C
cat >main.c <<'C'
#include <signal.h>
#include <stdio.h>
int placed(int);
static void handler(int number) { printf("signal %d\n", number); }
int main(void) {
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  printf("%d\n", placed(41));
  return 0;
}
C
"$cc" -I "$FLICK_TEST_INCLUDE" -shared -fPIC library.c -o libplaced.so
gcc main.c -o prog -L. -lplaced -Wl,-rpath,"$PWD"
status 0 ./prog
has out 'signal 10' 42

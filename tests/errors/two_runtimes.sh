# A second libflick.so, loaded by its path, before a library with an image.
. "$FLICK_TEST_ERRORS/lib.sh"
cat >plug.c <<'C'
#include <flick.h>
FLICK_NXP int plug(int x) { return x + 1; }
C
cat >main.c <<'C'
#include <dlfcn.h>
#include <flick.h>
FLICK_NXP static int work(int x) { return x - 1; }
int main(int argc, char **argv) {
  if (argc > 1 && !dlopen(argv[1], RTLD_NOW))
    return 3;
  if (!dlopen("./plug.so", RTLD_NOW))
    return 4;
  return work(1);
}
C
"$cc" -I "$FLICK_TEST_INCLUDE" -shared -fPIC plug.c -o plug.so
"$cc" -I "$FLICK_TEST_INCLUDE" main.c -o prog
./prog
mkdir other
cp "$(dirname "$(dirname "$flick")")/lib/flick/libflick.so" other/
refuses FLK0405 ./other/libflick.so -- ./prog ./other/libflick.so

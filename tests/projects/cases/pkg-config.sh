# flick.pc: a program of gcc's that loads a library made by Flick, with the runtime in front.
. "$FLICK_TEST_PROJECTS/lib.sh"
export PKG_CONFIG_PATH=$flick_root/lib/pkgconfig
[ "flick $(pkg-config --modversion flick)" = "$(flick --version)" ] || die "another version"
cat >library.c <<'C'
#include <flick.h>
#include <stdlib.h>
FLICK_NXP void *block(int *local) {
  void *memory = malloc(10);
  *local = flick_is_nxp_memory(memory);
  return memory;
}
C
cat >main.c <<'C'
#include <dlfcn.h>
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
FLICK_NXP static int marked(void) { return 0; }
int main(void) {
  void *library = dlopen("./library.so", RTLD_NOW);
  void *(*block)(int *) = library ? (void *(*)(int *))dlsym(library, "block") : NULL;
  int local = 0;
  if (block)
    free(block(&local));
  printf("%d\n", local);
  return block ? marked() : 1;
}
C
"$(pkg-config --variable=cc flick)" -shared -fPIC library.c -o library.so
gcc $(pkg-config --cflags flick) main.c $(pkg-config --libs flick) -o with
gcc $(pkg-config --cflags flick) main.c -o without
echo 1 >want
same want block@library.so -- ./with
# What the page says of programs that are linked without it.
echo 0 >want
same want block@library.so -- ./without

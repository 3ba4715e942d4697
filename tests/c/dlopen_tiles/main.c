// A library with data of a tile is opened and closed again: the tile has the data as long as the
// library is there.
// CARD: card-two
// SKIP-MODE: static a static program cannot use dlopen here
// STEP: cc -shared -fPIC plugin.c -o plugin.so
// STEP: link main.c -ldl
// OUT: 8 there 1 gone 1
// OUT: 8 there 1 gone 1
#include <dlfcn.h>
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  const char *backend = getenv("FLICK_BACKEND");
  int on_card = backend != NULL && strcmp(backend, "card") == 0;
  for (int i = 0; i < 2; i++) {
    void *library = dlopen("./plugin.so", RTLD_NOW);
    if (!library)
      return 1;
    int *(*changed)(void);
    *(void **)&changed = dlsym(library, "changed");
    int *value = changed(), now = *value;
    const char *of = flick_tile_of(value);
    int there = on_card ? of != NULL && strcmp(of, "compute") == 0 : of == NULL;
    dlclose(library);
    printf("%d there %d gone %d\n", now, there, flick_tile_of(value) == NULL);
  }
  return 0;
}

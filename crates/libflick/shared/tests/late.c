/* A program without Flick that loads a library with it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
  char *(*text)(void) = library ? (char *(*)(void))dlsym(library, "text") : NULL;
  if (!text) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  char *block = text();
  puts(block);
  free(block); /* the C library's: libflick came too late to be asked */
  return 0;
}

// All NxP code is in a shared library; the program linked with it has the runtime in front of libc,
// so that NxP malloc is NxP-local and the program's free takes its blocks.
// ONLY: flick
// SKIP-MODE: static a static program has no shared library
// SKIP-VALGRIND: memcheck replaces malloc
// SKIP-ASAN: the heap is the sanitizer's there
// STEP: cc -shared -fPIC library.c -o libalone.so
// STEP: link main.c -L. -lalone -Wl,-rpath,$ORIGIN
// OUT: 1
#include "library.h"
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  printf("%d\n", library_heap());
  free(library_block());
}

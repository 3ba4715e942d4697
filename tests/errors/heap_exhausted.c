// More NxP-local memory than there can be: NULL and ENOMEM as from any malloc, and a warning that
// says which memory it was.
// FAILS: run FLK0503
// OUT: NULL 12
// OUT: NULL 12
// OUT: fine
// SAYS: NxP-local memory is exhausted
// SAYS: allocation of 1099511627776 bytes
#include <errno.h>
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

static volatile size_t terabyte = (size_t)1 << 40;

FLICK_NXP void *take(size_t size) { return malloc(size); }

static void show(void *memory) {
  if (memory)
    printf("%p\n", memory);
  else
    printf("NULL %d\n", errno);
  free(memory);
}

int main(void) {
  void *small;
  errno = 0;
  show(take(terabyte));
  errno = 0;
  show(flick_alloc(FLICK_MEM_NXP, terabyte));
  small = take(100);
  puts(small ? "fine" : "nothing");
  free(small);
  return 0;
}

// flick_alloc_on gives memory of a tile's own, also in NxP code; realloc and free leave it there. A
// name that the machine lacks is an error on a card. flick_prefer is the thread's.
// ONLY: flick
// CARD: card-two
// LIBS: -lpthread
// OUT: names 1 1 1 1
// OUT: local 1 1 1, not 0
// OUT: moved 1 kept 1 same tile 1
// OUT: many 1
// OUT: prefer 0 0 0 0
// SKIP-VALGRIND: the heap is memcheck's there
// SKIP-ASAN: the heap is the sanitizer's there
#include <errno.h>
#include <flick.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Is this what the machine says? Without a card nothing has a tile.
static int on_card;
static int is_of(const void *memory, const char *tile) {
  const char *of = flick_tile_of(memory);
  return on_card ? of != NULL && strcmp(of, tile) == 0 : of == NULL;
}

FLICK_NXP_ON("compute")
__attribute__((noinline)) static char *allocate(const char *tile, size_t size) {
  char *block = flick_alloc_on(tile, size);
  for (size_t i = 0; i < size; i++)
    block[i] = (char)i;
  return block;
}

static void *thread(void *argument) {
  char *blocks[100];
  int good = 1;
  for (int i = 0; i < 100; i++)
    good &= is_of(blocks[i] = allocate("compute", 1000 + (size_t)i), "compute");
  for (int i = 0; i < 100; i++)
    free(blocks[i]);
  // Another thread's choice is not this one's.
  *(int *)argument = good;
  return NULL;
}

int main(void) {
  const char *backend = getenv("FLICK_BACKEND");
  on_card = backend != NULL && strcmp(backend, "card") == 0;
  char *storage = allocate("storage", 100), *compute = allocate("compute", 100),
       *first = allocate(NULL, 100);
  errno = 0;
  void *none = flick_alloc_on("nowhere", 1);
  int is_missing = on_card ? none == NULL && errno == ENOENT : none != NULL;
  printf("names %d %d %d %d\n", is_of(storage, "storage"), is_of(compute, "compute"),
         is_of(first, "storage"), is_missing);
  free(none);
  printf("local %d %d %d, not %d\n", flick_is_nxp_memory(storage), flick_is_nxp_memory(compute),
         flick_is_nxp_memory(first), flick_tile_of(&on_card) != NULL);
  char *larger = realloc(compute, 5 << 20);
  int kept = 1;
  for (int i = 0; i < 100; i++)
    kept &= larger[i] == (char)i;
  printf("moved %d kept %d same tile %d\n", larger != NULL, kept, is_of(larger, "compute"));
  pthread_t threads[8];
  int good[8], all = 1;
  for (int i = 0; i < 8; i++)
    pthread_create(&threads[i], NULL, thread, &good[i]);
  for (int i = 0; i < 8; i++) {
    pthread_join(threads[i], NULL);
    all &= good[i];
  }
  printf("many %d\n", all);
  errno = 0;
  int missing = flick_prefer("nowhere");
  printf("prefer %d %d %d %d\n", on_card ? missing + 1 : missing, on_card ? errno - ENOENT : errno,
         flick_prefer("compute"), flick_prefer(NULL));
  free(storage);
  free(larger);
  flick_free(first);
  return 0;
}

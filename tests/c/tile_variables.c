// FLICK_NXP_DATA_ON in one file, linked in each way: the bounds of each tile's section are the
// linker's. A variable that nothing uses may be dropped.
// CARD: card-two
// OUT: sum 7, tiles 1 1
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FLICK_NXP_DATA_ON("compute") static int values[3] = {1, 2, 3};
FLICK_NXP_DATA_ON("storage") int added = 4;
FLICK_NXP_DATA_ON("storage") static char large[100000];
FLICK_NXP_DATA_ON("other-tile") int unused[3];

__attribute__((noinline)) FLICK_NXP static int sum(void) {
  large[sizeof large - 1] = 1;
  values[1] += added;
  return values[0] + values[1];
}

int main(void) {
  int found = sum();
  const char *backend = getenv("FLICK_BACKEND");
  int on_card = backend != NULL && strcmp(backend, "card") == 0;
  const char *of_values = flick_tile_of(values), *of_large = flick_tile_of(&large[99999]);
  printf("sum %d, tiles %d %d\n", found,
         on_card ? of_values && strcmp(of_values, "compute") == 0 : of_values == NULL,
         on_card ? of_large && strcmp(of_large, "storage") == 0 : of_large == NULL);
  return 0;
}

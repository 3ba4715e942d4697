// flick.h under every standard of C++, with flick and without.
// RUN: for v in 98 11 14 17 20; do %flickxx -std=c++$v @%S/header.warn %s || exit; done
// RUN: for v in 98 11 14 17 20; do %clangxx -I%include -std=c++$v @%S/header.warn %s || exit; done
// RUN: for v in 98 11 14 17 20; do g++ -I%include -std=c++$v @%S/header.warn %s || exit; done
#include <flick.h>

struct Holder {
  FLICK_NXP int member(int x) { return x; }
  FLICK_NXP_ON("storage") int there(int x) { return x; }
  FLICK_BOTH Holder() {}
  FLICK_HOST static int host();
};
FLICK_NXP_DATA int table[4];
FLICK_NXP_DATA_ON("storage") int there;
int use() {
  Holder h;
  void *p = flick_alloc(FLICK_MEM_NXP, sizeof table);
  int near = flick_is_nxp_memory(p);
  flick_free(p);
  p = flick_alloc_on("storage", sizeof table);
  near += flick_tile_of(p) != NULL;
  flick_free(p);
  return near + h.member(1) + h.there(2) + flick_prefer(NULL);
}

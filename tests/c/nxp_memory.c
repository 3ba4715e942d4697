// What lies in NxP-local memory: malloc in NxP code, flick_alloc(FLICK_MEM_NXP), NxP locals and
// FLICK_NXP_DATA do; host allocations, host locals and ordinary variables do not.
// ONLY: flick
// OUT: 1 1 1 1
// OUT: 0 0 0 0
// SKIP-VALGRIND: the heap is memcheck's there
// SKIP-ASAN: the heap is the sanitizer's there
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>

FLICK_NXP_DATA static int table[10];
static int ordinary[10];

FLICK_NXP static void *allocate(void) { return malloc(50); }
FLICK_NXP static int local_is_near(void) {
  volatile int local = 0;
  return flick_is_nxp_memory((const void *)&local);
}

int main(void) {
  void *a = allocate(), *b = flick_alloc(FLICK_MEM_NXP, 50), *c = malloc(50),
       *d = flick_alloc(FLICK_MEM_HOST, 50);
  volatile int local = 0;
  printf("%d %d %d %d\n", flick_is_nxp_memory(a), flick_is_nxp_memory(b),
         flick_is_nxp_memory(table), local_is_near());
  printf("%d %d %d %d\n", flick_is_nxp_memory(c), flick_is_nxp_memory(d),
         flick_is_nxp_memory(ordinary), flick_is_nxp_memory((const void *)&local));
  free(a);
  flick_free(b);
  free(c);
  flick_free(d);
}

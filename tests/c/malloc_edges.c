// The edges of the malloc family in NxP code: sizes zero, too large, overflowing, NULL; errno as in
// plain C.
// OUT: 1f
// SKIP-VALGRIND: memcheck does not set errno where calloc overflows
#define _GNU_SOURCE
#include <errno.h>
#include <flick.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Volatile, because clang takes it that malloc leaves errno alone. */
static void set_errno(int e) { *(volatile int *)&errno = e; }
static int get_errno(void) { return *(volatile int *)&errno; }

static volatile size_t zero = 0, huge = SIZE_MAX / 2, half = SIZE_MAX / 4 + 2;

FLICK_NXP static int edges(void) {
  int result = 0;
  void *volatile p = malloc(zero);
  free(p);
  set_errno(0);
  p = malloc(huge);
  result |= (p == NULL && get_errno() == ENOMEM) << 0;
  set_errno(0);
  p = calloc(half, 8);
  result |= (p == NULL && get_errno() == ENOMEM) << 1;
  char *volatile keep = malloc(10);
  keep[0] = 'k';
  set_errno(0);
  p = realloc(keep, huge);
  result |= (p == NULL && get_errno() == ENOMEM && keep[0] == 'k') << 2;
  set_errno(0);
  p = reallocarray(keep, half, 8);
  result |= (p == NULL && get_errno() == ENOMEM && keep[0] == 'k') << 3;
  p = realloc(NULL, 33);
  result |= (p != NULL) << 4;
  free(p);
  free(keep);
  free(NULL);
  return result;
}

int main(void) { printf("%x\n", edges()); }

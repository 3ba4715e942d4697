// Variables defined in one unit and used in another, by NxP code of both: arrays, pointers,
// structs, tentative definitions, thread-locals, FLICK_NXP_DATA, functions in initialisers.
// LIBS: -pthread
#include "variables.h"
#include <flick.h>
#include <pthread.h>
#include <stdio.h>

int tentative;
struct shared shared = {3, 1.5, &tentative, main_function};
FLICK_NXP int main_function(int x) { return x + tentative; }

FLICK_NXP static int work(int k) {
  numbers[k] += shared.a;
  near_numbers[k] += numbers[k];
  *shared.p += k;
  per_thread += 10;
  return other_work(k) + shared.f(k) + (words[k][0] - 'a');
}
static void *thread(void *arg) {
  *(int *)arg = work(1) * 1000 + per_thread;
  return NULL;
}

int main(void) {
  pthread_t t;
  int r = 0, a = work(0), b = work(2);
  pthread_create(&t, NULL, thread, &r);
  pthread_join(t, NULL);
  printf("%d %d %d %d\n", a, b, r, per_thread);
  printf("%d %d %d %d %g\n", numbers[2], near_numbers[2], tentative, shared.a, shared.b);
}

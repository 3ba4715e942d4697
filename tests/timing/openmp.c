// OpenMP in virtual time: loops, a reduction, critical sections, atomics, barriers, tasks and
// locks. `openmp THREADS`: prints what it has computed, which does not depend on the threads.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 4000, ROUNDS = 5 };
static double from[LENGTH], to[LENGTH];

int main(int argc, char **argv) {
  long inside = 0, passed = 0, tasks = 0, locked = 0;
  double sum = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
  omp_set_dynamic(0);
  omp_set_num_threads(argc > 1 ? atoi(argv[1]) : 4);
  for (int i = 0; i < LENGTH; i++)
    from[i] = i % 7;
  for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (int i = 0; i < LENGTH; i++)
      sum += to[i] = from[i] * 2 + round;
#pragma omp parallel for schedule(dynamic, 50)
    for (int i = 0; i < LENGTH; i++) {
      to[i] += from[i] * (i % 3);
      if (i % 400 == 0) {
#pragma omp critical
        inside++;
      }
    }
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp single
      for (int k = 0; k < 20; k++) {
#pragma omp task
        {
#pragma omp atomic
          tasks++;
          omp_set_lock(&lock);
#pragma omp atomic
          locked++;
          omp_unset_lock(&lock);
        }
      }
#pragma omp master
      passed++;
    }
  }
  printf("%.1f %.1f %ld %ld %ld %ld\n", sum, to[17], inside, passed, tasks, locked);
  return 0;
}

// Ten thousand short threads that cross, up to four at a time: no mapping, file or page is left
// behind by them.
// OUT: 10000 mappings 0 files 0 pages 1
// LIBS: -pthread
// SKIP-MODE: fault,no-pie,O0 the number is the subject, and ten thousand threads take a while
// SKIP-VALGRIND: ten thousand threads take long there
// SKIP-ASAN: mappings and pages are the sanitizer's, too
#include <dirent.h>
#include <flick.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local int mine;
FLICK_NXP static void *work(void *arg) {
  char *block = malloc(300);
  block[299] = 1;
  mine += block[299];
  *(int *)arg += mine;
  free(block);
  return NULL;
}
static void run(int threads, int *count) {
  for (int i = 0; i < threads; i += 4) {
    pthread_t t[4];
    int one[4] = {0};
    for (int j = 0; j < 4; j++)
      if (pthread_create(&t[j], NULL, work, &one[j]))
        abort();
    for (int j = 0; j < 4; j++) {
      pthread_join(t[j], NULL);
      *count += one[j];
    }
  }
}

static int mappings(void) {
  FILE *f = fopen("/proc/self/maps", "r");
  int lines = 0;
  for (int c; (c = getc(f)) != EOF;)
    lines += c == '\n';
  fclose(f);
  return lines;
}
static int files(void) {
  DIR *d = opendir("/proc/self/fd");
  int n = 0;
  while (readdir(d))
    n++;
  closedir(d);
  return n;
}
static long pages(void) {
  FILE *f = fopen("/proc/self/statm", "r");
  long all, resident;
  int n = fscanf(f, "%ld %ld", &all, &resident);
  fclose(f);
  return n == 2 ? resident : -1;
}

int main(void) {
  int count = 0;
  run(400, &count);
  int m = mappings(), f = files();
  long p = pages();
  run(9600, &count);
  // The allocators and the C library keep some, whose number does not grow with that of threads.
  printf("%d mappings %d files %d pages %d\n", count, mappings() - m > 100, files() - f,
         pages() - p < 400);
}

// Thread-local variables of a library that is opened after threads have started, and closed and
// opened again: each thread has its own, new objects; NxP and host code of program and library
// reach the same ones.
// SKIP-MODE: static a static program cannot use dlopen here
// STEP: cc -shared -fPIC plugin.c -o plugin.so
// STEP: link main.c -ldl
// LIBS: -lpthread
// OUT: 1 1 1 1
// OUT: 1 1 1 1
#include <dlfcn.h>
#include <flick.h>
#include <pthread.h>
#include <stdio.h>

static int *(*of_nxp)(void), *(*of_host)(void);
static int (*add)(int);
static pthread_barrier_t barrier;

FLICK_NXP static int use(int times) {
  int *first = of_nxp(), good = *first == 40 && first == of_host();
  for (int i = 1; i <= times; i++)
    good &= add(i) == 40 + i * (i + 1) / 2;
  return good && of_nxp() == first;
}
static void *thread(void *result) {
  for (int round = 0; round < 2; round++) {
    pthread_barrier_wait(&barrier);
    ((int *)result)[round] = use(50);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(void) {
  enum { THREADS = 3 };
  pthread_t t[THREADS];
  int results[THREADS][2];
  pthread_barrier_init(&barrier, NULL, THREADS + 1);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&t[i], NULL, thread, results[i]);
  for (int round = 0; round < 2; round++) {
    void *library = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return puts(dlerror());
    *(void **)&of_nxp = dlsym(library, "of_nxp");
    *(void **)&of_host = dlsym(library, "of_host");
    *(void **)&add = dlsym(library, "add");
    pthread_barrier_wait(&barrier);
    int mine = use(30);
    pthread_barrier_wait(&barrier);
    printf("%d", mine);
    // The last round's are read when the threads have ended.
    if (round == 0)
      dlclose(library);
    if (round == 1)
      for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < THREADS; i++)
      printf(" %d", results[i][round]);
    printf("\n");
  }
}

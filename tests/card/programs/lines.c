// Where caches write back without coherence, harts may not store to one line. The library keeps to
// it: blocks of threads, also small ones, and locks in the midst of data.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 6, BLOCKS = 40, ROUNDS = 30 };

struct account {
  long before;
  pthread_mutex_t mutex;
  long money;
  pthread_cond_t changed;
  long changes;
};

static struct account *account;
static unsigned char *blocks[THREADS][BLOCKS];

static size_t size_of(int number) { return 1 + number * 3; }

static void *work(void *argument) {
  long me = (long)argument;
  unsigned char *mine[BLOCKS];
  for (int n = 0; n < BLOCKS; n++)
    mine[n] = malloc(size_of(n));
  for (int round = 0; round < ROUNDS; round++) {
    pthread_mutex_lock(&account->mutex);
    account->money += me;
    account->changes++;
    pthread_cond_broadcast(&account->changed);
    while (account->changes < THREADS * round)
      pthread_cond_wait(&account->changed, &account->mutex);
    pthread_mutex_unlock(&account->mutex);
    // Each thread stores to its blocks at the same time.
    for (int n = 0; n < BLOCKS; n++)
      memset(mine[n], me + round, size_of(n));
  }
  pthread_mutex_lock(&account->mutex);
  memcpy(blocks[me], mine, sizeof mine);
  pthread_mutex_unlock(&account->mutex);
  return NULL;
}

int main(void) {
  account = calloc(1, sizeof *account);
  pthread_mutex_init(&account->mutex, NULL);
  pthread_cond_init(&account->changed, NULL);
  pthread_t threads[THREADS];
  for (long n = 0; n < THREADS; n++)
    pthread_create(&threads[n], NULL, work, (void *)n);
  for (int n = 0; n < THREADS; n++)
    pthread_join(threads[n], NULL);
  int wrong = 0;
  for (int thread = 0; thread < THREADS; thread++)
    for (int n = 0; n < BLOCKS; n++)
      for (size_t byte = 0; byte < size_of(n); byte++)
        wrong += blocks[thread][n][byte] != thread + ROUNDS - 1;
  printf("%ld changes, money %ld, %d wrong bytes\n", account->changes, account->money, wrong);
  return wrong != 0;
}

/* Threads that do a part of the work each, and the virtual time that all of it takes. A program
 * includes this once. */
#ifndef PAPER_WORKERS_H
#define PAPER_WORKERS_H

#include "measure.h"

#include <pthread.h>

#define MOST 64

static struct worker {
  pthread_t thread;
  size_t number;
  prediction begin, end;
} workers[MOST];

static pthread_barrier_t together;
static void (*work)(size_t number);

static void *works(void *own) {
  struct worker *worker = own;
  pthread_barrier_wait(&together);
  worker->begin = now();
  work(worker->number);
  worker->end = now();
  return NULL;
}

/* Lets COUNT threads do WHAT at once, each with its number: the time from the first one's beginning
 * to the last one's end. */
static prediction at_once(size_t count, void (*what)(size_t)) {
  work = what;
  pthread_barrier_init(&together, NULL, (unsigned)count);
  for (size_t i = 0; i < count; i++) {
    workers[i].number = i;
    if ((errno = pthread_create(&workers[i].thread, NULL, works, &workers[i])) != 0) {
      perror("pthread_create");
      exit(1);
    }
  }
  for (size_t i = 0; i < count; i++)
    pthread_join(workers[i].thread, NULL);
  pthread_barrier_destroy(&together);
  prediction begin = workers[0].begin, end = workers[0].end;
  for (size_t i = 1; i < count; i++) {
    const struct worker *other = &workers[i];
    if (other->begin.migrating_ps < begin.migrating_ps)
      begin.migrating_ps = other->begin.migrating_ps;
    if (other->begin.staying_ps < begin.staying_ps)
      begin.staying_ps = other->begin.staying_ps;
    if (other->end.migrating_ps > end.migrating_ps)
      end.migrating_ps = other->end.migrating_ps;
    if (other->end.staying_ps > end.staying_ps)
      end.staying_ps = other->end.staying_ps;
  }
  return (prediction){.migrating_ps = end.migrating_ps - begin.migrating_ps,
                      .staying_ps = end.staying_ps - begin.staying_ps};
}

#endif

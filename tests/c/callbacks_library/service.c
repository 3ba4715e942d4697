#include "service.h"
#include <pthread.h>

static struct handler kept;
static pthread_t thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int queue[64], head, tail, stopping;
static void (*at_unload)(void);

static int take(int *event) {
  pthread_mutex_lock(&lock);
  while (head == tail && !stopping)
    pthread_cond_wait(&changed, &lock);
  int some = head != tail;
  if (some)
    *event = queue[head++ % 64];
  pthread_mutex_unlock(&lock);
  return some;
}

static void *serve(void *unused) {
  int event;
  while (take(&event)) {
    kept.on_event(kept.user, event);
    struct point p = {event, 0.5};
    double length = kept.on_point(p, 2.5f);
    struct big b = {{event}};
    b = kept.on_big(b, 3);
    kept.on_text(kept.user, "event %d: %g, %d %d\n", event, length, b.n[0], b.n[11]);
  }
  kept.on_stop(kept.user);
  return unused;
}

int service_start(const struct handler *h) {
  kept = *h;
  stopping = 0;
  return pthread_create(&thread, 0, serve, 0);
}

void service_post(int event) {
  pthread_mutex_lock(&lock);
  queue[tail++ % 64] = event;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
}

int service_pending(void) {
  pthread_mutex_lock(&lock);
  int n = tail - head;
  pthread_mutex_unlock(&lock);
  return n;
}

void service_stop(void) {
  pthread_mutex_lock(&lock);
  stopping = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, 0);
}

void service_at_unload(void (*f)(void)) { at_unload = f; }

__attribute__((destructor)) static void unload(void) {
  if (at_unload)
    at_unload();
}

// A library that a plain compiler built keeps pointers to NxP and host functions and calls them
// later, from a thread of its own and when it is unloaded: structs by value, a variadic function,
// callbacks that call the library again. Once registered by host and once by NxP code.
// STEP: host-cc -shared -fPIC service.c -o libservice.so -lpthread
// STEP: link main.c -L. -lservice -Wl,-rpath,$ORIGIN
// SKIP-MODE: static a static program has no shared library
// LIBS: -lpthread
// OUT: event 4: 11.25, 12 27
// OUT: event 1: 3.75, 3 27
// OUT: event 0: 1.25, 0 27
// OUT: stopped after 3, sum 5
// OUT: event 2: 6.25, 6 27
// OUT: event 0: 1.25, 0 27
// OUT: stopped after 2, sum 2
// OUT: unloaded
#include "service.h"
#include <flick.h>
#include <stdarg.h>
#include <stdio.h>

struct sums {
  int events, sum;
};

FLICK_NXP static void on_event(void *user, int event) {
  struct sums *s = user;
  s->events++;
  s->sum += event;
  if (event > 1)
    service_post(event / 4);
  if (event == 1)
    service_post(0);
}
FLICK_NXP static double on_point(struct point p, float scale) { return (p.x + p.y) * scale; }
FLICK_NXP static struct big on_big(struct big b, int by) {
  b.n[0] *= by;
  b.n[11] = by * by * by;
  return b;
}
FLICK_NXP static int on_text(void *user, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = vprintf(format, list);
  va_end(list);
  return user ? n : -1;
}
static void on_stop_host(void *user) {
  struct sums *s = user;
  printf("stopped after %d, sum %d\n", s->events, s->sum);
}
FLICK_NXP static void on_unload(void) {
  puts("unloaded");
  fflush(stdout);
}

FLICK_NXP static void wait_for_all(struct sums *s, int events) {
  while (__atomic_load_n(&s->events, __ATOMIC_ACQUIRE) < events || service_pending())
    ;
}

FLICK_HOST static void from_host(void) {
  struct sums s = {0, 0};
  struct handler h = {on_event, on_point, on_big, on_text, on_stop_host, &s};
  service_start(&h);
  service_post(4);
  wait_for_all(&s, 3);
  service_stop();
}
FLICK_NXP static void from_nxp(void) {
  struct sums s = {0, 0};
  struct handler h = {on_event, on_point, on_big, on_text, on_stop_host, &s};
  service_start(&h);
  service_post(2);
  wait_for_all(&s, 2);
  service_stop();
}

int main(void) {
  from_host();
  from_nxp();
  service_at_unload(on_unload);
}

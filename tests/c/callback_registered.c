// NxP code registers callbacks of both sides with a host registry; the host fires them later, and
// one callback registers another.
// OUT: 3
// OUT: event 1, 4 registered
// OUT: event 2, 4 registered
// OUT: event 3, 4 registered
// OUT: event 4, 4 registered
// OUT: 10 9 -10
#include <flick.h>
#include <stdio.h>

typedef void callback(int event, void *context);

static struct {
  callback *f;
  void *context;
} registry[8];
static int registered;

FLICK_HOST static int add_callback(callback *f, void *context) {
  registry[registered].f = f;
  registry[registered].context = context;
  return registered++;
}

FLICK_NXP static void on_nxp(int event, void *context) { *(int *)context += event; }
FLICK_HOST static void on_host(int event, void *context) { *(int *)context -= event; }
FLICK_NXP static void once(int event, void *context) {
  if (event == 1)
    add_callback(on_nxp, (int *)context + 1);
  printf("event %d, %d registered\n", event, registered);
}

FLICK_NXP static int subscribe(int *counters) {
  return add_callback(on_nxp, counters) + add_callback(on_host, counters + 2) +
         add_callback(once, counters);
}

static void fire(int event) {
  for (int i = 0, n = registered; i < n; i++)
    registry[i].f(event, registry[i].context);
}

int main(void) {
  int counters[3] = {0};
  printf("%d\n", subscribe(counters));
  for (int event = 1; event <= 4; event++)
    fire(event);
  printf("%d %d %d\n", counters[0], counters[1], counters[2]);
}

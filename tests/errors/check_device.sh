# With FLICK_CHECK=device, code that relies on the host's caches, memory order or atomics is
# reported with both places; what meets at crossings, or under locks of the C library, is not.
. "$FLICK_TEST_ERRORS/lib.sh"
cat >prog.c <<'C'
#include <flick.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  _Alignas(64) int mine;
  int yours;
  _Alignas(64) atomic_int counter;
  _Alignas(64) int message[16];
  _Alignas(64) volatile int nxp_inside;
  _Alignas(64) volatile int done;
  _Alignas(64) int locked;
  _Alignas(64) int table[16];
  _Alignas(64) int sum;
} s;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

// On the NxP in one residency, from before the host's part until it is done.
FLICK_NXP static void flag(void) {
  s.nxp_inside = 1;
  while (!s.done)
    ;
}
FLICK_NXP static void sharing(void) {
  s.nxp_inside = 1;
  do
    ++*(volatile int *)&s.mine;
  while (!s.done);
}
FLICK_NXP static void counter(void) {
  s.nxp_inside = 1;
  do
    atomic_fetch_add(&s.counter, 1);
  while (!s.done);
}
FLICK_NXP static void locks(void) {
  for (int i = 0; i < 300; i++) {
    pthread_mutex_lock(&lock);
    s.locked++;
    pthread_mutex_unlock(&lock);
  }
}
FLICK_NXP static int reads(void) {
  int sum = 0;
  for (int i = 0; i < 100000; i++)
    sum += ((volatile int *)s.table)[i % 16];
  return sum;
}
FLICK_NXP static int message(void) { return s.message[3]; }

static int is_one_of(const char *name, const char *names) { return strstr(names, name) != NULL; }
static void *host(void *what) {
  const char *name = what;
  pthread_barrier_wait(&barrier);
  if (is_one_of(name, "flag sharing counter")) {
    while (!s.nxp_inside)
      sched_yield();
    for (int i = 0; i < 100; i++, sched_yield())
      if (!strcmp(name, "sharing"))
        *(volatile int *)&s.yours = i;
      else if (!strcmp(name, "counter"))
        atomic_fetch_add(&s.counter, 1);
    s.done = 1;
  } else if (!strcmp(name, "locks")) {
    for (int i = 0; i < 300; i++) {
      pthread_mutex_lock(&lock);
      s.locked++;
      pthread_mutex_unlock(&lock);
    }
  } else if (!strcmp(name, "reads")) {
    int sum = 0;
    for (int i = 0; i < 100000; i++)
      sum += ((volatile int *)s.table)[i % 16];
    s.sum = sum;
  }
  return NULL;
}
// One part in a thread of the host, the other on the NxP.
int main(int argc, char **argv) {
  pthread_t t;
  const char *name = argc > 1 ? argv[1] : "";
  pthread_barrier_init(&barrier, NULL, 2);
  for (int i = 0; i < 16; i++)
    s.message[i] = s.table[i] = i;
  pthread_create(&t, NULL, host, (void *)name);
  pthread_barrier_wait(&barrier);
  if (!strcmp(name, "flag"))
    flag();
  else if (!strcmp(name, "sharing"))
    sharing();
  else if (!strcmp(name, "counter"))
    counter();
  else if (!strcmp(name, "locks"))
    locks();
  else if (!strcmp(name, "reads"))
    reads();
  pthread_join(t, NULL);
  s.message[3] = 7;
  printf("%d\n", message());
  return 0;
}
C
"$cc" -g -O1 --flick-check=device prog.c -o prog -pthread
export FLICK_CHECK=device FLICK_OFFLOAD=require
reported() {
  local name=$1
  shift
  status 0 ./prog "$name"
  has out 7
  has err "[FLK0508]" "$@"
}
quiet() {
  status 0 ./prog "$1"
  has out 7
  [ ! -s err ] || die "$(cat err)"
}
reported sharing 'other bytes of one cache line' 'at sharing (prog.c:' 'at host (prog.c:' alignas
reported counter 'an atomic access across the link' 'at counter (prog.c:' 'at host (prog.c:'
reported flag 'the same bytes' 'NxP code writes' 'at flag (prog.c:' 'at host (prog.c:'
quiet locks
quiet reads
quiet none
# Without the variable nothing is said; without the option nothing is known, and that is said.
FLICK_CHECK=off status 0 ./prog counter
[ ! -s err ] || die "$(cat err)"
"$cc" -O1 prog.c -o prog -pthread
status 0 ./prog counter
has err '[FLK0508]' 'compile with --flick-check=device'
# A program without NxP code.
printf 'int x; int main(int n, char **v) { (void)v; x = n; return x - 1; }\n' >plain.c
"$cc" --flick-check=device plain.c -o plain
status 0 ./plain
FLICK_CHECK=yes status 125 ./prog
has err '[FLK0404]' 'FLICK_CHECK=yes'

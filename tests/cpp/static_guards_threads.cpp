// Threads of both sides race for the construction of function-local statics: one constructs, the
// others wait.
// LIBS: -lpthread
// OUT: made 1 7
#include <cstdio>
#include <flick.h>
#include <pthread.h>
#include <sched.h>

static int made;
struct Slow {
  int value;
  FLICK_NXP Slow() : value(0) {
    for (int i = 0; i < 7; i++) {
      sched_yield();
      value++;
    }
    __atomic_fetch_add(&made, 1, __ATOMIC_SEQ_CST);
  }
};
inline Slow &instance() {
  static Slow s;
  return s;
}
FLICK_NXP static void *nxp_thread(void *out) {
  *static_cast<int *>(out) = instance().value;
  return nullptr;
}
FLICK_HOST static void *host_thread(void *out) {
  *static_cast<int *>(out) = instance().value;
  return nullptr;
}

int main() {
  pthread_t threads[8];
  int seen[8] = {};
  for (int i = 0; i < 8; i++)
    pthread_create(&threads[i], nullptr, i % 2 ? nxp_thread : host_thread, &seen[i]);
  for (pthread_t t : threads)
    pthread_join(t, nullptr);
  for (int s : seen)
    if (s != 7)
      std::printf("saw %d\n", s);
  std::printf("made %d %d\n", made, instance().value);
}

// A thread that ends runs destructors and the handlers of pthread_cleanup_push innermost first,
// whichever side they are on and whether C or C++ has them: by pthread_exit from NxP and host code,
// and cancelled.
// LIBS: -lpthread
#include <cstdio>
#include <flick.h>
#include <pthread.h>
#include <unistd.h>

extern "C" {
void go_on(int depth, int how);
void nxp_handler(int depth, int how);
void host_handler(int depth, int how);
}

struct Noisy {
  const char *side;
  int depth;
  FLICK_BOTH ~Noisy() { std::printf("~%s %d\n", side, depth); }
};

FLICK_HOST static void end_on_host(int how) {
  Noisy n{"end", 0};
  if (how < 2)
    pthread_exit(nullptr);
  pthread_cancel(pthread_self());
  for (;;)
    pause();
}
FLICK_NXP static void end_on_nxp() {
  Noisy n{"end", 0};
  pthread_exit(nullptr);
}

FLICK_NXP static void nxp_level(int depth, int how) {
  Noisy n{"nxp", depth};
  nxp_handler(depth - 1, how);
}
FLICK_HOST static void host_level(int depth, int how) {
  Noisy n{"host", depth};
  if (depth % 4 == 3)
    host_handler(depth - 1, how);
  else
    nxp_handler(depth - 1, how);
}
FLICK_NXP void go_on(int depth, int how) {
  Noisy n{"go", depth};
  if (depth <= 0 && how == 0)
    end_on_nxp();
  else if (depth <= 0)
    end_on_host(how);
  else if (depth % 3 == 0)
    host_level(depth, how);
  else
    nxp_level(depth, how);
}

FLICK_NXP static void *start(void *how) {
  Noisy n{"start", 12};
  go_on(11, *static_cast<int *>(how));
  return nullptr;
}

int main() {
  for (int how = 0; how < 3; how++) {
    std::printf("-- %d\n", how);
    pthread_t t;
    pthread_create(&t, nullptr, start, &how);
    pthread_join(t, nullptr);
  }
}

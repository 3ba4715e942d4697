// Forced unwinding runs the cleanups of NxP frames: pthread_exit from NxP code and from the host
// below it, cancellation in a host call, _Unwind_ForcedUnwind to the end of the stack.
// EXIT: 3
// CROSSINGS: unrecorded ends by _exit
// LIBS: -pthread
#include <cstdio>
#include <cstring>
#include <flick.h>
#include <pthread.h>
#include <unistd.h>
#include <unwind.h>

static char trace[64];
static int used;
struct Guard {
  char name;
  explicit Guard(char c) : name(c) {}
  ~Guard() { trace[used++] = name; }
};
static void *const result = &used;

FLICK_HOST static void host_exit() {
  Guard g('h');
  pthread_exit(result);
}
FLICK_HOST static void host_waits() {
  Guard g('w');
  pthread_cancel(pthread_self());
  for (;;)
    pause();
}
FLICK_NXP static void last(int how) {
  Guard g('l');
  if (how == 0)
    pthread_exit(result);
  if (how == 1)
    host_exit();
  host_waits();
}
FLICK_NXP static void notices(int how) {
  Guard g('n');
  try {
    last(how);
  } catch (...) {
    trace[used++] = '.';
    throw;
  }
}
FLICK_HOST static void between(int how) {
  Guard g('b');
  notices(how);
}
FLICK_NXP static void *outer(void *how) {
  Guard g('o');
  between(static_cast<int>(reinterpret_cast<long>(how)));
  return nullptr;
}

static char *target;
static _Unwind_Reason_Code stop(int, _Unwind_Action actions, _Unwind_Exception_Class,
                                _Unwind_Exception *, _Unwind_Context *, void *counter) {
  ++*static_cast<int *>(counter);
  if (actions & _UA_END_OF_STACK) {
    std::printf("end of stack: [%s] %d\n", trace, *static_cast<int *>(counter) > 3);
    std::fflush(stdout);
    _exit(target[0]);
  }
  return _URC_NO_REASON;
}
FLICK_HOST static void force() {
  static _Unwind_Exception exception;
  static int count;
  _Unwind_ForcedUnwind(&exception, stop, &count);
}
FLICK_NXP static void forced() {
  Guard g('f');
  force();
}

int main() {
  for (long how = 0; how < 3; how++) {
    pthread_t t;
    void *r;
    used = 0;
    std::memset(trace, 0, sizeof trace);
    pthread_create(&t, nullptr, outer, reinterpret_cast<void *>(how));
    pthread_join(t, &r);
    std::printf("%ld [%s] %d\n", how, trace, how == 2 ? r == PTHREAD_CANCELED : r == result);
  }
  static char status = 3;
  target = &status;
  used = 0;
  std::memset(trace, 0, sizeof trace);
  std::fflush(stdout);
  forced();
}

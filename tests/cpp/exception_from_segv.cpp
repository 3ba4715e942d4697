// A SIGSEGV handler throws for a fault of host code, in a program that has crossed: as natively,
// the exception is caught where the host function was called, by NxP code too.
// CXXFLAGS: -fnon-call-exceptions
// SKIP-RANDOM: what leaves NxP code that faulted is refused (FLK0506)
// SKIP-VALGRIND: memcheck reports the access that is the subject
// OUT: host 5 nxp 6
#include <csignal>
#include <cstdio>
#include <flick.h>
#include <sys/mman.h>

static int *page;
static int number = 4;
FLICK_HOST static void handler(int) { throw ++number; }
FLICK_HOST static int touch(int at) { return page[at]; }
static int (*volatile touch_pointer)(int) = touch;

FLICK_HOST static int on_host() {
  try {
    return touch_pointer(3);
  } catch (int i) {
    return i;
  }
}
FLICK_NXP static int on_nxp() {
  try {
    return touch_pointer(4);
  } catch (int i) {
    return i;
  }
}

int main() {
  struct sigaction a = {};
  a.sa_handler = handler;
  a.sa_flags = SA_NODEFER;
  sigaction(SIGSEGV, &a, nullptr);
  page = static_cast<int *>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  int host = on_host();
  std::printf("host %d nxp %d\n", host, on_nxp());
}

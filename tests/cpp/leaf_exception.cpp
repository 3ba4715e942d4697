// A SIGSEGV handler throws for a fault in a leaf of the NxP that the host has called: the exception
// is caught by the leaf's caller on the host, as natively, and by NxP code further out.
// CXXFLAGS: -fnon-call-exceptions
// OUT: host 5 nxp 6
// SKIP-MODE: interp,translate,fault,O0 the leaf has a crossing, and the exception is refused (FLK0506)
// SKIP-RANDOM: what leaves NxP code that faulted is refused (FLK0506)
// SKIP-VALGRIND: memcheck reports the access that is the subject
#include <csignal>
#include <cstdio>
#include <flick.h>
#include <sys/mman.h>

static int *page;
static int number = 4;
FLICK_HOST static void handler(int) { throw ++number; }
FLICK_NXP __attribute__((noinline)) static int touch(const int *from, long at) { return from[at]; }
static int (*volatile touch_pointer)(const int *, long) = touch;

FLICK_HOST __attribute__((noinline)) static int touch_on_host() {
  return touch_pointer(page, 4) + 1;
}
FLICK_HOST static int on_host() {
  try {
    return touch_pointer(page, 3);
  } catch (int i) {
    return i;
  }
}
FLICK_NXP static int on_nxp() {
  try {
    return touch_on_host();
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

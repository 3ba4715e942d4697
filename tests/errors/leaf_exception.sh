# A SIGSEGV handler throws for a fault in a leaf of the NxP that the host has called. Without a crossing
# the exception is caught by the leaf's caller on the host, as natively, and by NxP code further out.
# Where calls are counted there is a crossing, and the exception is refused.
. "$FLICK_TEST_ERRORS/lib.sh"
cxx=$FLICK_TEST_CXX
cat >prog.cpp <<'C'
#include <csignal>
#include <cstdio>
#include <flick.h>

static int number = 4;
FLICK_HOST static void handler(int) { throw ++number; }
FLICK_NXP __attribute__((noinline)) static int touch(const int *from, long at) { return from[at]; }
static int (*volatile touch_pointer)(const int *, long) = touch;

FLICK_HOST __attribute__((noinline)) static int touch_on_host() { return touch_pointer(nullptr, 4) + 1; }
FLICK_HOST static int on_host() {
  try {
    return touch_pointer(nullptr, 3);
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
  int host = on_host();
  std::printf("host %d nxp %d\n", host, on_nxp());
}
C
for options in '' -static -no-pie; do
  "$cxx" -O2 -fnon-call-exceptions $options prog.cpp -o prog
  FLICK_OFFLOAD=require status 0 ./prog
  has out 'host 5 nxp 6'
  FLICK_OFFLOAD=require FLICK_STATS=./stats status 134 ./prog
  has err FLK0506 "in a call of 'touch(int const*, long)'"
done

// Exceptions through frames whose size is known at run time only (alloca): their frame pointer
// leads to their caller, on either side.
// OUT: caught 90 in a frame of 90 bytes, sum 4005
// OUT: caught 90 behind 3 frames
#include <alloca.h>
#include <cstdio>
#include <cstring>
#include <flick.h>

static int passed;
static volatile int sizes[] = {90, 3000, 17};

struct Passed {
  FLICK_NXP ~Passed() { passed++; }
};

FLICK_NXP static void throws(int n) {
  char *p = (char *)alloca(n);
  memset(p, n, n);
  throw n + p[n - 1] - n;
}
FLICK_HOST static void host_frame(void (*f)(int), int n) {
  Passed guard;
  char *p = (char *)alloca(sizes[1]);
  memset(p, 1, sizes[1]);
  f(n + p[9] - 1);
}
FLICK_NXP static void nxp_frame(int n) {
  Passed guard;
  char *p = (char *)alloca(sizes[2]);
  memset(p, 1, sizes[2]);
  host_frame(throws, n + p[16] - 1);
}
FLICK_NXP static void plain_frame(int n) {
  Passed guard;
  nxp_frame(n);
}
FLICK_NXP static int catches(int n) {
  unsigned char *p = (unsigned char *)alloca(n);
  for (int i = 0; i < n; i++)
    p[i] = (unsigned char)i;
  try {
    plain_frame(n);
  } catch (int value) {
    int sum = 0;
    for (int i = 0; i < n; i++)
      sum += p[i];
    std::printf("caught %d in a frame of %d bytes, sum %d\n", value, n, sum);
  }
  return passed;
}

int main() {
  int first = catches(sizes[0]);
  try {
    plain_frame(sizes[0]);
  } catch (int value) {
    std::printf("caught %d behind %d frames\n", value, passed - first);
  }
}

// Exceptions that are not C++'s pass NxP frames: `catch (...)` sees them, cleanups run, and the one
// who raised them cleans up.
#include <cstdio>
#include <cstring>
#include <flick.h>
#include <unwind.h>

struct Guard {
  const char *name;
  ~Guard() { std::printf("~%s\n", name); }
};
static _Unwind_Exception foreign;
static void cleanup(_Unwind_Reason_Code, _Unwind_Exception *) { std::puts("deleted"); }

FLICK_HOST static void host_raises() {
  Guard g{"host"};
  std::memset(&foreign, 0, sizeof foreign);
  std::memcpy(&foreign.exception_class, "FLKTEST", 8);
  foreign.exception_cleanup = cleanup;
  _Unwind_RaiseException(&foreign);
  std::puts("nobody");
}
FLICK_NXP static void nxp_raises() {
  Guard g{"nxp"};
  std::memset(&foreign, 0, sizeof foreign);
  std::memcpy(&foreign.exception_class, "FLKTEST", 8);
  foreign.exception_cleanup = cleanup;
  _Unwind_RaiseException(&foreign);
  std::puts("nobody");
}
FLICK_NXP static int catches(bool host) {
  try {
    Guard g{"try"};
    host ? host_raises() : nxp_raises();
  } catch (int) {
    return 1;
  } catch (...) {
    std::puts("caught");
    return 2;
  }
  return 3;
}
FLICK_NXP static void passes(bool host) {
  Guard g{"passes"};
  host ? host_raises() : nxp_raises();
}

int main() {
  for (int host = 0; host < 2; host++)
    std::printf("%d\n", catches(host));
  for (int host = 0; host < 2; host++)
    try {
      passes(host);
    } catch (...) {
      std::puts("in main");
    }
}

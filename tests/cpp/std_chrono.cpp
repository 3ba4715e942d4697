// std::chrono: durations and time points by value across sides, clocks read on the NxP, sleeping.
// OUT: 2005 3 1 1086400
#include <chrono>
#include <cstdio>
#include <flick.h>
#include <thread>

using namespace std::chrono;
using namespace std::chrono_literals;
FLICK_NXP static milliseconds add(seconds s, milliseconds m) { return s + m; }
FLICK_HOST static minutes whole(seconds s) { return duration_cast<minutes>(s); }
FLICK_NXP static long on_nxp(seconds s) { return whole(s * 2 + 30s).count(); }
FLICK_NXP static bool sleeps(milliseconds m) {
  auto before = steady_clock::now();
  std::this_thread::sleep_for(m);
  return steady_clock::now() - before >= m;
}
FLICK_NXP static system_clock::time_point tomorrow(system_clock::time_point t) { return t + 24h; }

int main() {
  auto t = system_clock::from_time_t(1000000);
  std::printf("%ld %ld %d %ld\n", static_cast<long>(add(2s, 5ms).count()), on_nxp(100s),
              sleeps(3ms), static_cast<long>(system_clock::to_time_t(tomorrow(t))));
}

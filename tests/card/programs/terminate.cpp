// An exception without a handler ends the program, as abort does: here, of a thread.
// STATUS: 134
// NEEDS: coherent caches
#include <cstdio>
#include <stdexcept>
#include <thread>

int main() {
  printf("begins\n");
  fflush(stdout);
  std::thread([] { throw std::runtime_error("of a thread"); }).join();
  printf("never\n");
}

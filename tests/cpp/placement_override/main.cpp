// A placement file with the word `override` has the last word on marks, of declarations and
// definitions, and on thunks.
// OUT: 2 3 5 4 5 6
// PLACE: override.place
// CROSSINGS: host-to-nxp=2 nxp-to-host=0
#include "shared.h"
#include <cstdio>

int main() {
  Box box;
  Other *other = &box;
  Base *base = &box;
  std::printf("%d %d %d %d %d %d\n", sent_back(1), sent_back_too(1), kept_there(1), spread(2),
              other->fetched(1), base->marked(1));
  return 0;
}

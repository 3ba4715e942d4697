// A placement file names, exactly, a function that cannot be placed.
// PLACE: inline_asm_named.place
// FAILS: compile FLK0202
// SAYS: 'stamp'
unsigned stamp(void);

unsigned stamp(void) {
  unsigned low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)); /* HERE */
  return low ^ high;
}

int main(void) { return stamp() == 0; }

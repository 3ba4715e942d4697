// A line of the placement file is not understood.
// PLACE: placement_syntax.place
// FAILS: compile FLK0209
// SAYS: placement_syntax.place:3
// SAYS: nxq
int zero(void);
int zero(void) { return 0; }
int main(void) { return zero(); }

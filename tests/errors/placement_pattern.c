// A pattern of the placement file is broken.
// PLACE: placement_pattern.place
// FAILS: compile FLK0209
// SAYS: placement_pattern.place:1
int zero(void);
int zero(void) { return 0; }
int main(void) { return zero(); }

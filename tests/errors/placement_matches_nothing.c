// An entry names no function of the program; the entry before it does.
// PLACE: placement_matches_nothing.place
// FAILS: link FLK0210
// SAYS: placement_matches_nothing.place:2
// SAYS: nosuch_*
int zero(void);
int zero(void) { return 0; }
int main(void) { return zero(); }

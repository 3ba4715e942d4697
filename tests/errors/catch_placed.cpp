// A try block in a placed member function.
// FAILS: compile FLK0211
// SAYS: safely
#include <flick.h>

int may_throw(int);
struct Runner {
  FLICK_NXP int safely(int x) {
    try {
      return may_throw(x);
    } catch (int e) { /* HERE */
      return e;
    }
  }
};

int main() { return Runner().safely(1); }

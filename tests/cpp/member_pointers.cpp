// Pointers to data members, to member functions and to virtual ones of either side, called from
// both, compared, and null.
// OUT: 10 10 10 10 same 1
// OUT: 21 21 21 21 same 1
// OUT: 3 3 102 102 same 1
// OUT: 5 5 203 203 same 1
// OUT: 10 20 null 1
#include <cstdio>
#include <flick.h>

struct Account {
  int cash = 10, stock = 20;
  virtual ~Account() = default;
  FLICK_NXP int nxp(int x) { return cash + x; }
  FLICK_HOST int host(int x) { return stock + x; }
  FLICK_NXP virtual int kind(int x) { return x + 1; }
  FLICK_HOST virtual int other(int x) { return x + 2; }
};
struct Prefix {
  long pad = 7;
  virtual ~Prefix() = default;
};
struct Savings : Prefix, Account {
  FLICK_HOST int kind(int x) override { return x + 100; }
  FLICK_NXP int other(int x) override { return x + 200; }
};
using Method = int (Account::*)(int);
FLICK_NXP static int call_on_nxp(Account *a, Method m, int x) { return (a->*m)(x); }
FLICK_HOST static int call_on_host(Account *a, Method m, int x) { return (a->*m)(x); }
FLICK_NXP static int field(Account *a, int Account::*f) { return a->*f; }
FLICK_NXP static Method choose(int i) {
  const Method all[] = {&Account::nxp, &Account::host, &Account::kind, &Account::other, nullptr};
  return all[i];
}
FLICK_HOST static Method choose_host(int i) {
  const Method all[] = {&Account::nxp, &Account::host, &Account::kind, &Account::other, nullptr};
  return all[i];
}

int main() {
  Account a;
  Savings s;
  for (int i = 0; i < 4; i++) {
    Method m = choose(i);
    std::printf("%d %d %d %d same %d\n", call_on_nxp(&a, m, i), call_on_host(&a, m, i),
                call_on_nxp(&s, m, i), call_on_host(&s, m, i), m == choose_host(i));
  }
  std::printf("%d %d null %d\n", field(&a, &Account::cash), field(&s, &Account::stock),
              choose(4) == nullptr);
}

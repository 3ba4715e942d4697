// A string literal, a wide one, __func__ and a constant table have one address for host and NxP
// code of a unit, as for its functions natively: compared by their addresses, in tables, as keys.
// OUT: 1 1 1
// OUT: 1 1 1
// OUT: found 2
// OUT: 1 nxp_name
// OUT: 9 98
#include <flick.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

static const char *const constant = "constant";
const char *variable = "variable";
static const char *const table[] = {"zero", "one", "two"};

FLICK_HOST static const char *host_text(int which) {
  switch (which) {
  case 0:
    return "constant";
  case 1:
    return "variable";
  default:
    return "two";
  }
}
FLICK_NXP static const char *nxp_text(int which) {
  switch (which) {
  case 0:
    return "constant";
  case 1:
    return "variable";
  default:
    return "two";
  }
}
FLICK_HOST static const wchar_t *host_wide(void) { return L"wide"; }
FLICK_NXP static int same_wide(const wchar_t *text) {
  const wchar_t *mine = L"wide";
  return mine == text && wcslen(mine) == 4;
}

// What a program does that compares names by their addresses.
FLICK_NXP static int find(const char *key) {
  for (int i = 0; i < 3; i++)
    if (table[i] == key)
      return i;
  return -1;
}

FLICK_NXP static const char *nxp_name(int again) {
  static const char *first;
  if (!again)
    first = __func__;
  return first == __func__ ? first : "another";
}

// Tables that are only read may be copied.
FLICK_NXP static int read_only(int i) {
  const int squares[] = {0, 1, 4, 9, 16};
  char text[] = "abc";
  return squares[i] + (i == 4 ? text[1] - 16 : 0);
}

int main(void) {
  printf("%d %d %d\n", nxp_text(0) == host_text(0), nxp_text(1) == host_text(1),
         same_wide(host_wide()));
  printf("%d %d %d\n", nxp_text(0) == constant, nxp_text(1) == variable, nxp_text(2) == table[2]);
  printf("found %d\n", find(host_text(2)));
  const char *first = nxp_name(0);
  printf("%d %s\n", first == nxp_name(1), first);
  printf("%d %d\n", read_only(3), read_only(4));
}

// Wide characters, Unicode literals and conversions in NxP code.
// OUT: 9 WIDE TEXT 137145 14 wide:42:narrow -123
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uchar.h>
#include <wchar.h>
#include <wctype.h>

FLICK_NXP static size_t upper(wchar_t *s) {
  size_t n = 0;
  for (; s[n]; n++)
    s[n] = (wchar_t)towupper((wint_t)s[n]);
  return n;
}
FLICK_NXP static unsigned literals(void) {
  static const char16_t sixteen[] = u"\u20ac!";
  static const char32_t thirty_two[] = U"\U0001f600";
  return sixteen[0] + sixteen[1] + thirty_two[0] + (unsigned)strlen(u8"\u20ac") + L'\u00e9';
}
FLICK_NXP static int convert(char *out, size_t size) {
  wchar_t wide[32];
  int n = swprintf(wide, 32, L"%ls:%d:%s", L"wide", 42, "narrow");
  return wcstombs(out, wide, size) == (size_t)n ? n : -1;
}

int main(void) {
  wchar_t s[] = L"wide text";
  char out[32], back[32];
  size_t n = upper(s);
  wcstombs(out, s, sizeof out);
  int m = convert(back, sizeof back);
  printf("%zu %s %u %d %s %ld\n", n, out, literals(), m, back, wcstol(L"-123", NULL, 10));
}

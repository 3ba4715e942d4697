// String literals used by NxP code: passed to the host, returned, indexed, with escapes and zeros
// inside, concatenated, in arrays of pointers.
// OUT: zero one two three many 1665
// OUT: put from NxP
// OUT: 257 kept after return
#include <flick.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"zero", "one", "two", "three"};
static const char *volatile seen;

FLICK_NXP static const char *get(int i) { return i < 4 ? names[i] : "many"; }
FLICK_NXP static int sum(void) {
  static const char raw[] = "a\0b\xff\n\"";
  int s = 0;
  for (size_t i = 0; i < sizeof raw; i++)
    s += (unsigned char)raw[i] * (int)(i + 1);
  return s;
}
FLICK_NXP static size_t use(void) {
  seen = "kept "
         "after return";
  puts("put from NxP");
  return strlen(seen) + sizeof "xyz" + (unsigned char)"\351"[0] + strlen(__func__);
}

int main(void) {
  for (int i = 0; i < 5; i++)
    printf("%s ", get(i));
  printf("%d\n", sum());
  size_t n = use();
  printf("%zu %s\n", n, seen);
}

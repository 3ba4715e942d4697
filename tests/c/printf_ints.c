// printf called by NxP code with integers of all lengths, characters, strings and pointers to
// write through. Expects the text that plain C prints.
// OUT: -128 32767 -2147483648 9223372036854775807 -9223372036854775808 18446744073709551615
// OUT: 84 2147483648 80000000 0777 -2147483648  7
// OUT: [   42] [42   ] [00042] [     42] [abc]
// OUT: ok text % -9
// OUT: -9223372036854775808 tail
// OUT: -1 -2 -3 -4 -5 6
// OUT: 16 4294967293 fffffffd 0777 -3  7
// OUT: [   42] [42   ] [00042] [     42] [abc]
// OUT: ok text % -9
// OUT: -9223372036854775808 tail
#include <flick.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

FLICK_NXP static void show(signed char c, short h, int i, long l, long long ll, size_t z) {
  int count = 0;
  printf("%hhd %hd %d %ld %lld %zu%n\n", c, h, i, l, ll, z, &count);
  printf("%d %u %x %#o %+d % d\n", count, (unsigned)i, (unsigned)i, 511, i, 7);
  printf("[%5d] [%-5d] [%05d] [%*d] [%.*s]\n", 42, 42, 42, 7, 42, 3, "abcdef");
  printf("%c%c %s %% %td\n", 'o', 'k', "text", (ptrdiff_t)-9);
  printf("%jd %s\n", (intmax_t)INT64_MIN, (const char *)&"xtail"[1]);
}

int main(void) {
  show(SCHAR_MIN, SHRT_MAX, INT_MIN, LONG_MAX, LLONG_MIN, SIZE_MAX);
  show(-1, -2, -3, -4, -5, 6);
}

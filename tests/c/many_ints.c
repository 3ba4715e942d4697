// Nine and twenty integer arguments of mixed widths in both directions, so that most travel on the
// stack. Expects every argument in its place.
// OUT: 20544393269245162
// OUT: -524501
#include <flick.h>
#include <stdio.h>

FLICK_HOST static long host20(int a, long b, short c, char d, int e, unsigned f, long g, short h,
                              char i, int j, unsigned char k, long l, int m, int n, short o, long p,
                              int q, unsigned r, char s, long t) {
  long v[] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t};
  long sum = 0;
  for (int x = 0; x < 20; x++)
    sum = sum * 3 + v[x];
  return sum;
}

FLICK_NXP static long nxp20(int a, long b, short c, char d, int e, unsigned f, long g, short h,
                            char i, int j, unsigned char k, long l, int m, int n, short o, long p,
                            int q, unsigned r, char s, long t) {
  long v[] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t};
  long sum = 0;
  for (int x = 0; x < 20; x++)
    sum = sum * 3 + v[x];
  return sum + host20(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t) * 7 +
         host20((int)t, s, (short)r, (char)q, (int)p, (unsigned)o, n, (short)m, (char)l, k,
                (unsigned char)j, i, h, (int)g, (short)f, e, d, (unsigned)c, (char)b, a);
}

FLICK_NXP static int nxp9(int a, int b, int c, int d, int e, int f, signed char g, unsigned short h,
                          int i) {
  return a - 2 * b + 3 * c - 4 * d + 5 * e - 6 * f + 7 * g - 8 * h + 9 * i;
}

int main(void) {
  printf("%ld\n", nxp20(-1, 2, -3, 'd', -5, 6, -7, 8, 'i', -10, 211, 12, -13, 14, -15, 16, -17,
                        4000000000U, 's', -20));
  printf("%d\n", nxp9(-1, 2, -3, 4, -5, 6, -7, 65535, -9));
}

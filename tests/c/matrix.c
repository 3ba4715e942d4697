// Matrix product, transposition, LU solution and a float product on the NxP, over arrays of arrays
// and pointers. Expects plain clang's bits.
// OUT: 0x1.5075075075075p+3 0x1.ea83a83a83a85p+3 0x1.a715f15f15f16p+4
// OUT: 0x1.847e7bd93336ep+104 -0x1.ad34cd3303865p-4 0x1.70f92c8066379p-5
// OUT: -0x1.e0a4c4p-2
#include <flick.h>
#include <stdio.h>

enum { N = 24 };
typedef double matrix[N][N];

FLICK_NXP static void multiply(matrix c, matrix a, matrix b) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double s = 0;
      for (int k = 0; k < N; k++)
        s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
}
FLICK_NXP static double solve(matrix a, double *x) {
  double determinant = 1;
  for (int i = 0; i < N; i++) {
    determinant *= a[i][i];
    for (int j = i + 1; j < N; j++) {
      double f = a[j][i] / a[i][i];
      for (int k = i; k < N; k++)
        a[j][k] -= f * a[i][k];
      x[j] -= f * x[i];
    }
  }
  for (int i = N - 1; i >= 0; i--) {
    for (int k = i + 1; k < N; k++)
      x[i] -= a[i][k] * x[k];
    x[i] /= a[i][i];
  }
  return determinant;
}
FLICK_NXP static float single(const float *a, const float *b, int n) {
  float s = 0;
  for (int i = 0; i < n; i++)
    s = s * 0.5f + a[i] * b[n - 1 - i];
  return s;
}

int main(void) {
  static matrix a, b, c;
  static double x[N];
  static float f[N * N];
  for (int i = 0; i < N; i++) {
    x[i] = i % 5 - 2;
    for (int j = 0; j < N; j++) {
      a[i][j] = (i == j ? 20 : 0) + ((i * 7 + j * 3) % 11) / 7.0;
      b[i][j] = ((i * 5 + j) % 13) * 0.1;
      f[i * N + j] = (float)(a[i][j] - b[i][j]);
    }
  }
  multiply(c, a, b);
  printf("%a %a %a\n", c[0][0], c[5][17], c[23][23]);
  double determinant = solve(a, x);
  printf("%a %a %a\n", determinant, x[0], x[23]);
  printf("%a\n", (double)single(f, f + 3, N * N - 3));
}

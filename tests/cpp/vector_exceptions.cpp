// Exceptions through functions of the NxP that keep vectors on their stack over calls, whose frames
// have a size that is known at run time alone: thrown by the host and by the NxP, caught and
// rethrown on both sides, with destructors in between. Expects plain clang's results.
// CARD: card card-two
// FLICK-FLAGS: --nxp-march=rv64gcv_zvl256b -Xnxp=-O3
#include <cstdio>
#include <flick.h>
#include <stdexcept>

typedef int four __attribute__((vector_size(16)));
typedef double two __attribute__((vector_size(16)));

#define NXP FLICK_NXP __attribute__((noinline))
#define HOST FLICK_HOST __attribute__((noinline))

static int destroyed;

// What the host may change during a call, so that the vectors have to be kept on the stack.
four table[8] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};

struct Counted {
  int n;
  ~Counted() { destroyed += n; }
};

HOST int throws_on_host(int n) {
  table[n & 7] += n;
  if (n % 3 == 0)
    throw std::out_of_range("host");
  return n;
}

NXP int throws_on_nxp(int n) {
  if (n % 5 == 0)
    throw n;
  return throws_on_host(n) + 1;
}

NXP four keeps(const int *x, int n) {
  Counted counted{n};
  four a = {x[0], x[1], x[2], n}, b = a * 3 + n, c = a ^ b;
  two d = {x[0] / 4.0, n / 8.0};
  four kept = table[n & 7], other = table[(n + 3) & 7];
  int result = throws_on_nxp(n);
  table[(n + 1) & 7] = (kept * result) ^ (other + table[n & 7]);
  d *= result;
  return a + b * result + c + (int)d[0] + (int)d[1];
}

HOST int between(const int *x, int n) {
  Counted counted{1};
  four v = keeps(x, n);
  return v[0] + v[1] + v[2] + v[3];
}

NXP int catches(const int *x, int n) {
  four before = {x[3], x[2], n, 1};
  int result;
  try {
    result = between(x, n);
  } catch (int value) {
    result = -value;
  } catch (const std::exception &) {
    if (n % 2)
      throw;
    result = -1000;
  }
  before += result;
  return before[0] ^ before[1] ^ before[2] ^ before[3];
}

int main() {
  static int x[8] = {3, 1, 4, 1, 5, 9, 2, 6};
  for (int n = 0; n < 31; n++) {
    try {
      printf("%d: %d", n, catches(x, n));
    } catch (const std::exception &e) {
      printf("%d: caught on the host, %s", n, e.what());
    }
    four now = table[n & 7];
    printf(", %d, %d %d %d %d\n", destroyed, now[0], now[1], now[2], now[3]);
  }
}

/* Tests every size up to 300 at every alignment of both operands, against plain loops. */
#include "bare.h"

void *memcpy(void *restrict, const void *restrict, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
int bcmp(const void *, const void *, size_t);
size_t strlen(const char *);
/* The second name of each is the same function. */
extern __typeof(memcpy) __flick_call_memcpy;
extern __typeof(memmove) __flick_call_memmove;
extern __typeof(memset) __flick_call_memset;
extern __typeof(memcmp) __flick_call_memcmp;
extern __typeof(bcmp) __flick_call_bcmp;
extern __typeof(strlen) __flick_call_strlen;

enum { MAX = 300, PAD = 16, SIZE = MAX + 2 * PAD + 8 };
static unsigned char have[2 * SIZE], want[2 * SIZE], source[SIZE];

static void fail(const char *what, size_t length) {
  print("nxp: FAILED ", 12);
  print(what, length);
  print("\n", 1);
  syscall3(93, 1, 0, 0);
}
#define CHECK(condition, what)                                                                     \
  do {                                                                                             \
    if (!(condition))                                                                              \
      fail(what, sizeof(what) - 1);                                                                \
  } while (0)

static void fill(void) {
  for (size_t i = 0; i < sizeof have; i++)
    have[i] = want[i] = random64();
  for (size_t i = 0; i < sizeof source; i++)
    source[i] = random64();
}
static int same(void) {
  for (size_t i = 0; i < sizeof have; i++)
    if (have[i] != want[i])
      return 0;
  return 1;
}
static int sign(int x) { return (x > 0) - (x < 0); }

static void copies(size_t n, size_t to, size_t from) {
  CHECK(memcpy(have + PAD + to, source + PAD + from, n) == have + PAD + to, "memcpy's result");
  for (size_t i = 0; i < n; i++)
    want[PAD + to + i] = source[PAD + from + i];
  CHECK(same(), "memcpy");
}

/* Ranges that overlap, in both directions and by every small distance. */
static void moves(size_t n, size_t at, int distance) {
  unsigned char *from = have + SIZE / 2 + at, *to = from + distance;
  unsigned char copy[MAX];
  for (size_t i = 0; i < n; i++)
    copy[i] = from[i];
  CHECK(memmove(to, from, n) == to, "memmove's result");
  for (size_t i = 0; i < n; i++)
    want[to - have + i] = copy[i];
  CHECK(same(), "memmove");
}

static void sets(size_t n, size_t at) {
  int byte = random64();
  CHECK(memset(have + PAD + at, byte, n) == have + PAD + at, "memset's result");
  for (size_t i = 0; i < n; i++)
    want[PAD + at + i] = byte;
  CHECK(same(), "memset");
}

static void compares(size_t n, size_t left, size_t right) {
  unsigned char *a = have + PAD + left, *b = source + PAD + right;
  for (size_t i = 0; i < n; i++)
    a[i] = b[i];
  CHECK(memcmp(a, b, n) == 0 && bcmp(a, b, n) == 0, "memcmp of equals");
  if (n != 0) {
    size_t at = random64() % n;
    a[at] ^= 1 + random64() % 255;
    /* A second difference behind it must not count. */
    a[n - 1] ^= at == n - 1 ? 0 : 0x80;
    CHECK(sign(memcmp(a, b, n)) == sign(a[at] - b[at]), "memcmp's sign");
    CHECK(bcmp(a, b, n) != 0, "bcmp");
  }
  for (size_t i = 0; i < sizeof have; i++)
    want[i] = have[i];
}

static void lengths(size_t n, size_t at) {
  char *text = (char *)have + PAD + at;
  for (size_t i = 0; i < n; i++)
    text[i] |= 1;
  text[n] = 0;
  CHECK(strlen(text) == n, "strlen");
  for (size_t i = 0; i < sizeof have; i++)
    want[i] = have[i];
}

int main(void) {
  /* Volatile: a compiler takes two names for two functions. */
  void *volatile names[][2] = {
      {memcpy, __flick_call_memcpy}, {memmove, __flick_call_memmove}, {memset, __flick_call_memset},
      {memcmp, __flick_call_memcmp}, {bcmp, __flick_call_bcmp},       {strlen, __flick_call_strlen},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    CHECK(names[i][0] == names[i][1], "second names");
  fill();
  for (size_t n = 0; n <= MAX; n++) {
    for (size_t a = 0; a < 8; a++) {
      for (size_t b = 0; b < 8; b++) {
        copies(n, a, b);
        compares(n, a, b);
      }
      sets(n, a);
      lengths(n, a);
    }
    for (int distance = -17; distance <= 17; distance++)
      moves(n, n % 8, distance);
  }
  print("nxp: memory functions pass\n", 27);
  return 0;
}

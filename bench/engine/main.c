/* Runs one kernel of `flick bench engine`.
 *
 *   engine               names of the kernels
 *   engine KERNEL RUNS   runs it once, then RUNS times: a line `NANOSECONDS CHECKSUM` for each
 */
#include "list.h"
#include "platform.h"

static int same(const char *a, const char *b) {
  while (*a && *a == *b)
    a++, b++;
  return *a == *b;
}

static void put_text(const char *text) {
  size_t length = 0;
  while (text[length])
    length++;
  put(text, length);
}

static void put_number(uint64_t value, char end) {
  char digits[21], *at = digits + sizeof digits;
  *--at = end;
  do
    *--at = (char)('0' + value % 10);
  while (value /= 10);
  put(at, (size_t)(digits + sizeof digits - at));
}

int main(int argc, char **argv) {
  uint64_t runs = 0;
  for (const char *s = argc > 2 ? argv[2] : ""; *s >= '0' && *s <= '9'; s++)
    runs = runs * 10 + (uint64_t)(*s - '0');
  for (const kernel *k = kernels; k->name; k++) {
    if (!k->run)
      continue;
    if (argc < 2) {
      put_text(k->name);
      put_text("\n");
    } else if (same(argv[1], k->name)) {
      k->run(k->work);
      for (; runs; runs--) {
        uint64_t begin = now(), checksum = k->run(k->work);
        put_number(now() - begin, ' ');
        put_number(checksum, '\n');
      }
      return 0;
    }
  }
  return argc < 2 ? 0 : 2;
}

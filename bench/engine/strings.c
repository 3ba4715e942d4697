/* Strings, byte by byte: numbers are written and read, words counted, a text searched and reversed.
 */
#include "kernel.h"

static char text[8192];

static size_t length(const char *s) {
  const char *end = s;
  while (*end)
    end++;
  return (size_t)(end - s);
}

static char *append(char *to, const char *from) {
  while ((*to = *from))
    to++, from++;
  return to;
}

static char *write_number(char *to, uint64_t value) {
  char digits[20];
  size_t count = 0;
  do
    digits[count++] = (char)('0' + value % 10);
  while (value /= 10);
  while (count)
    *to++ = digits[--count];
  *to = 0;
  return to;
}

static uint64_t sum_of_numbers(const char *s) {
  uint64_t sum = 0;
  while (*s) {
    uint64_t value = 0;
    if (*s < '0' || *s > '9') {
      s++;
      continue;
    }
    for (; *s >= '0' && *s <= '9'; s++)
      value = value * 10 + (uint64_t)(*s - '0');
    sum += value;
  }
  return sum;
}

static unsigned words(const char *s) {
  unsigned count = 0;
  for (int inside = 0; *s; s++) {
    int letter = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z');
    count += (unsigned)(letter && !inside);
    inside = letter;
  }
  return count;
}

static const char *find(const char *s, const char *what) {
  for (; *s; s++) {
    size_t i = 0;
    while (what[i] && s[i] == what[i])
      i++;
    if (!what[i])
      return s;
  }
  return NULL;
}

static void reverse(char *s) {
  for (char *end = s + length(s); s < end; s++) {
    char kept = *s;
    *s = *--end;
    *end = kept;
  }
}

uint64_t strings(uint64_t work) {
  static const char *const pieces[] = {"the quick ", "brown fox ", "jumps, ", "over ",
                                       "a lazy dog; "};
  uint64_t checksum = 0, random = 7;
  for (uint64_t i = 0; i < work; i++) {
    char *end = text;
    while (end - text < (ptrdiff_t)sizeof text - 64) {
      uint64_t draw = next_random(&random);
      end = append(end, pieces[draw % 5]);
      end = write_number(end, draw >> 33);
      end = append(end, " ");
    }
    checksum = fold(checksum, sum_of_numbers(text));
    checksum = fold(checksum, words(text));
    for (const char *at = text; (at = find(at, "lazy dog; 1")); at++)
      checksum = fold(checksum, (uint64_t)(at - text));
    reverse(text);
    checksum = fold(checksum, length(text) + (unsigned char)text[i % 4096]);
  }
  return checksum;
}

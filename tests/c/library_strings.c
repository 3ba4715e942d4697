// LLVM knows the C library's functions for strings, memory, characters and numbers: it computes
// calls, makes cheaper ones of them, or leaves them, on the NxP as on the host.
// SKIP-GCC: gcc folds to other values where C says no more than the sign
// CFLAGS: -D_GNU_SOURCE -w
#include <arpa/inet.h>
#include <flick.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

// Beside those of the headers, which may be macros or promise more.
int isascii(int), isdigit(int), toascii(int);
void *memrchr(const void *, int, size_t);
char *__strdup(const char *), *__strndup(const char *, size_t),
    *__strtok_r(char *, const char *, char **);

static const char hello[] = "hello, world", empty[] = "", numbers[] = "1234 -56 0x1f 3.5";
static const char *volatile texts[] = {hello, empty, numbers, "aXbXc", "h"};
static volatile size_t counts[] = {0, 1, 3, 7, 40};
enum { Texts = sizeof texts / sizeof *texts };

static long sum;
FLICK_BOTH static void add(long x) { sum = sum * 31 + x; }
FLICK_BOTH static void place(const char *in, const char *at) { add(at ? at - in : -1); }
FLICK_BOTH static void sign(int x) { add((x > 0) - (x < 0)); }
FLICK_NXP static void show(const char *name) {
  printf("%s %lx\n", name, sum);
  sum = 0;
}

FLICK_NXP void search(void) {
  for (int i = 0; i < Texts; ++i) {
    const char *s = texts[i];
    add((long)strlen(s)), add(strlen(s) == 0), add((long)strnlen(s, counts[i])),
        add((long)strnlen(s, 4));
    place(s, strchr(s, 'l')), place(s, strchr(s, 0)), place(s, strrchr(s, 'X')),
        place(s, strrchr(s, 0));
    place(s, strstr(s, "wor")), place(s, strstr(s, "")), place(s, strstr(s, "X")),
        place(s, strstr(s, s));
    add(strstr(s, "hel") == s);
    place(s, strpbrk(s, "Xo")), place(s, strpbrk(s, "")), place(s, strpbrk(s, "l"));
    add((long)strspn(s, "ehl")), add((long)strspn(s, "")), add((long)strcspn(s, "Xo")),
        add((long)strcspn(s, ""));
    place(s, memchr(s, 'o', strlen(s))), place(s, memchr(s, 'o', 1)),
        place(s, memrchr(s, 'l', strlen(s)));
    add(memchr("abc", *s, 3) != 0), add(strchr("xyzh", *s) != 0);
    for (int k = 0; k < Texts; ++k) {
      const char *t = texts[k];
      sign(strcmp(s, t)), add(strcmp(s, t) == 0), sign(strncmp(s, t, counts[i])),
          sign(strncmp(s, t, 1));
      sign(strcasecmp(s, t)), sign(strncasecmp(s, t, 2)), sign(strcoll(s, t));
      sign(memcmp(s, t, 1)), add(memcmp(s, t, 0)), add(bcmp(s, t, 1) != 0), place(s, strstr(s, t));
    }
    sign(strcmp(s, "")), sign(strcmp("", s)), sign(strcmp(s, "hello, world")),
        sign(strncmp(s, "hello", 5));
    add(memcmp(s, "h", 2) == 0);
  }
  show("search");
  add((long)strlen(hello)), place(hello, strchr(hello, 'w')), place(hello, strrchr(hello, 'o'));
  sign(strcmp(hello, "hellp")), sign(strncmp(hello, numbers, 3)), sign(memcmp(hello, "help", 4));
  add((long)strspn(numbers, "4321")), add((long)strcspn(hello, "w")),
      place(hello, strstr(hello, "lo"));
  place(hello, strpbrk(hello, "wr")), place(hello, memchr(hello, 'r', 12)),
      add((long)strnlen(hello, 3));
  place(hello, memrchr(hello, 'o', 12)), add(bcmp(hello, "hello", 5));
  sign(strcasecmp("ABC", "abd")), sign(strncasecmp("ABC", "abd", 2)), add((long)wcslen(L"wide"));
  show("search of constants");
}

FLICK_NXP void copy(void) {
  char room[4][64];
  for (int i = 0; i < Texts; ++i) {
    const char *s = texts[i];
    size_t n = counts[i];
    memset(room, '.', sizeof room);
    strcpy(room[0], s), strcat(room[0], s), strcat(room[0], ""), strcat(room[0], "tail");
    place(room[1], stpcpy(room[1], s)), strncpy(room[2], s, 9),
        place(room[3], stpncpy(room[3], s, 5));
    add(room[3][7]), puts(room[0]), puts(room[1]), printf("%.9s %.5s\n", room[2], room[3]);
    strcpy(room[0], "abc"), strncat(room[0], s, n), strncat(room[0], s, 0),
        strncat(room[0], "xyz", 2);
    place(room[1], stpcpy(room[1], "constant")), strncpy(room[2], "ab", 8), strncpy(room[3], "", 3);
    puts(room[0]), puts(room[1]), puts(room[2]), add(room[3][2]), add(room[3][3]);
    memcpy(room[0], hello, n % 12), memmove(room[0] + 1, room[0], n),
        place(room[1], mempcpy(room[1], s, 1));
    place(room[2], memccpy(room[2], s, 'o', strlen(s))),
        place(room[2], memccpy(room[2], hello, 'w', 12));
    place(room[2], memccpy(room[2], "abc", 'z', 4));
    bcopy(room[0], room[3], 8), bzero(room[2], n), memset(room[1], 'q', 3);
    for (int k = 0; k < 20; ++k)
      add(room[0][k]), add(room[1][k]), add(room[2][k]), add(room[3][k]);
  }
  show("copy");
  char *rest = 0;
  strcpy(room[0], "one two;three");
  for (char *word = strtok(room[0], " ;"); word; word = strtok(0, " ;"))
    puts(word);
  strcpy(room[0], "a,b");
  for (char *word = strtok_r(room[0], ",", &rest); word; word = strtok_r(0, ",", &rest))
    puts(word);
  add((long)strxfrm(room[1], "abc", 10)), puts(room[1]);
  strcpy(room[0], "x:y");
  puts(__strtok_r(room[0], ":", &rest)), puts(rest);
  show("words");
}

// What _FORTIFY_SOURCE makes of the calls.
FLICK_NXP void checked(void) {
  char room[32], *end;
  for (int i = 0; i < Texts; ++i) {
    const char *s = texts[i];
    size_t n = counts[i] % 16;
    __builtin___memset_chk(room, 'x', sizeof room, sizeof room);
    __builtin___strcpy_chk(room, s, sizeof room), puts(room);
    end = __builtin___stpcpy_chk(room, s, sizeof room), place(room, end);
    __builtin___strcat_chk(room, "+", sizeof room), puts(room);
    __builtin___strncat_chk(room, s, n, sizeof room), puts(room);
    __builtin___strncpy_chk(room, s, n, sizeof room), __builtin___stpncpy_chk(room + 8, s, 6, 24);
    // Apart: valgrind takes glibc's __memmove_chk for __memcpy_chk, whose address is the same.
    __builtin___memcpy_chk(room, hello, n % 12, sizeof room),
        __builtin___memmove_chk(room + 16, room, n, 16);
    end = __builtin___mempcpy_chk(room, s, 1, sizeof room), place(room, end);
    add(__builtin___sprintf_chk(room, 0, sizeof room, "%s|%zu", s, n)), puts(room);
    add(__builtin___snprintf_chk(room, 9, 0, sizeof room, "%s!", s)), puts(room);
    add(__builtin___sprintf_chk(room, 0, (size_t)-1, "%s", s)), puts(room);
    __builtin___strcpy_chk(room, s, (size_t)-1), puts(room),
        __builtin___memset_chk(room, 'y', n, 32);
    __builtin___strcpy_chk(room, "known", sizeof room), puts(room);
  }
  show("checked");
}

FLICK_NXP void numbers_of(void) {
  char *end;
  for (int i = 0; i < Texts; ++i) {
    const char *s = texts[i];
    add(atoi(s)), add(atol(s)), add(atoll(s)), add((long)(atof(s) * 8));
    add(strtol(s, &end, 10)), place(s, end), add(strtol(s, 0, 16)), add((long)strtoul(s, &end, 0));
    add((long)strtoll(s, &end, 8)), add((long)strtoull(s, 0, 10)), add((long)(strtod(s, &end) * 4));
    place(s, end), add((long)(strtof(s, &end) * 4)), place(s, end);
    int x = (int)counts[i] * (i % 2 ? -1 : 1) + *s;
    add(abs(x)), add(labs(x)), add((long)llabs(x)), add(ffs(x)), add(ffsl(x)), add(ffsll(x));
    add(!!isdigit(x)), add(!!isascii(x)), add(toascii(x)), add(htons((unsigned short)x));
    add((int)htonl((unsigned)x)), add(ntohs((unsigned short)x)), add((int)ntohl((unsigned)x));
  }
  show("numbers");
  add(atoi("17x")), add(atol("-5")), add(atoll("99999999999")), add(strtol("0x10", &end, 0)),
      add(*end);
  add((long)strtoul("77", 0, 8)), add((long)strtoull("z", 0, 36)),
      add((long)strtoll("-1", &end, 10));
  add((long)atof("2.5")), add((long)strtod("1e3", 0)), add(abs(-3)), add(labs(-4L)),
      add((long)llabs(-5LL));
  add(ffs(8)), add(ffsl(0)), add(ffsll(1LL << 40)), add(!!isdigit('7')), add(isascii(200) != 0);
  add(toascii(200)), add(htons(0x1234)), add((int)htonl(0x12345678));
  show("constant numbers");
}

static int descending(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

FLICK_NXP void memory(void) {
  for (int i = 0; i < Texts; ++i) {
    const char *s = texts[i];
    size_t n = counts[i] + 1;
    char *a = malloc(n), *b = calloc(n, 2), *c = strdup(s), *d = strndup(s, n), *e = 0;
    if (!a || !b || !c || !d)
      return;
    memset(a, 0, n), add(a[n - 1]), add(b[2 * n - 1]), puts(c), puts(d);
    a = realloc(a, 2 * n), add(a != 0), add(a[n - 1]), a = realloc(a, 0 * n + 5);
    free(a), free(b), free(c), free(d), free(e), free(malloc(100)), free(strdup("gone"));
    char *zeros = malloc(24);
    memset(zeros, 0, 24), add(zeros[i]), free(zeros);
    char *f = aligned_alloc(64, 128), *g = 0, *h = memalign(32, 40), *j = valloc(10);
    add(posix_memalign((void **)&g, 128, 20)), add((unsigned long)f % 64 + (unsigned long)g % 128);
    add((unsigned long)h % 32 + (unsigned long)j % 4096);
    add(f && g && h && j), free(f), free(g), free(h), free(j);
    char *copy = strndup("constant", 3), *same = strdup("again");
    puts(copy), puts(same), free(copy), free(same);
    copy = __strndup(s, 2), same = __strdup(s);
    puts(copy), puts(same), free(copy), free(same);
  }
  int values[] = {3, 9, -4, 7};
  qsort(values, 4, sizeof *values, descending), add(values[0] * 1000 + values[3]);
  add(getenv("FLICK_NO_SUCH_VARIABLE") == 0);
  show("memory");
}

int main(void) {
  search();
  copy();
  checked();
  numbers_of();
  memory();
  return 0;
}

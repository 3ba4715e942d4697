// FLICK_PERF=jitdump: each translation has its source lines, how to unwind it, and then its name
// and bytes in /tmp/jit-PID.dump, which is mapped for perf to find; a child of fork has a file of
// its own.
// ONLY: flick
// ENV: FLICK_PERF=jitdump
// CFLAGS: -g
// SKIP-MODE: ahead,interp nothing is translated at run time
// OUT: parent: first [NxP] 1, called [NxP] 1, second [NxP] 0; lines 1; mapped; nothing wrong
// OUT: child: first [NxP] 0, called [NxP] 0, second [NxP] 1; lines 1; mapped; nothing wrong
// OUT: parent: first [NxP] 1, called [NxP] 1, second [NxP] 0; lines 1; mapped; nothing wrong
#define _GNU_SOURCE
#include <flick.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_LINE = __LINE__ };
FLICK_NXP __attribute__((noinline)) static int called(int x) { return 3 * x; }
FLICK_NXP static int first(int x) { return called(x) + 1; }
FLICK_NXP static int second(int x) { return x - 1; }
enum { LAST_LINE = __LINE__ };

static const char *path(void) {
  static char text[64];
  snprintf(text, sizeof text, "/tmp/jit-%d.dump", (int)getpid());
  return text;
}

static int is_mapped(void) {
  char line[512];
  int found = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps))
    found |= strstr(line, " r-xp ") && strstr(line, path());
  fclose(maps);
  return found;
}

static char dump[1 << 16];

static uint32_t word(const char *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}
static uint64_t quad(const char *at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

// Whether the entries of a record of source lines stand for code in ascending order, at lines of
// the functions above.
static int good_lines(const char *body, const char *end) {
  uint64_t last = quad(body), count = quad(body + 8);
  for (body += 16; count && body + 16 < end; count--) {
    uint64_t address = quad(body);
    uint32_t line = word(body + 8);
    if (address < last || line <= FIRST_LINE || line >= LAST_LINE || word(body + 12) != 0)
      return 0;
    if (!strstr(body + 16, "jitdump.c"))
      return 0;
    last = address;
    body += 16 + strlen(body + 16) + 1;
  }
  return count == 0 && body == end;
}

static const char *read_dump(int counts[3], int *lines) {
  static const char *const names[] = {"first [NxP]", "called [NxP]", "second [NxP]"};
  FILE *file = fopen(path(), "r");
  if (!file)
    return "no file";
  size_t size = fread(dump, 1, sizeof dump, file);
  fclose(file);
  if (size < 40 || word(dump) != 0x4a695444 || word(dump + 4) != 1 || word(dump + 8) != 40 ||
      word(dump + 12) != 62 || word(dump + 20) != (uint32_t)getpid() || quad(dump + 32) != 0)
    return "the header";
  uint64_t time = quad(dump + 24), last_index = 0, of_lines = 0;
  int unwinding = 0;
  for (const char *at = dump + 40; at < dump + size; at += word(at + 4)) {
    const char *body = at + 16, *end = at + word(at + 4);
    if (end > dump + size || end < body + 16 || quad(at + 8) < time)
      return "a record";
    time = quad(at + 8);
    switch (word(at)) {
    case 0: {
      uint64_t address = quad(body + 8), length = quad(body + 24), index = quad(body + 32);
      const char *name = body + 40, *code = name + strlen(name) + 1;
      if (word(body) != (uint32_t)getpid() || word(body + 4) != (uint32_t)gettid() ||
          quad(body + 16) != address || length == 0 || code + length != end)
        return "a piece of code";
      if (last_index && index <= last_index)
        return "an index";
      if (!unwinding)
        return "no unwinding";
      unwinding = 0;
      last_index = index;
      if (memcmp((const void *)address, code, length))
        return "bytes";
      for (int i = 0; i < 3; i++) {
        counts[i] += strcmp(name, names[i]) == 0;
        *lines &= strcmp(name, names[i]) || of_lines == address;
      }
      break;
    }
    case 2:
      of_lines = quad(body);
      if (!good_lines(body, end))
        return "lines";
      break;
    case 4: {
      static const unsigned char table[] = {1, 0x1b, 3, 0x3b};
      uint64_t all = quad(body), of_table = quad(body + 8);
      if (of_table != 20 || quad(body + 16) != all || body + 24 + all != end)
        return "sizes of unwinding";
      if (memcmp(end - of_table, table, sizeof table) ||
          word(end - of_table + 4) != (uint32_t)(of_table - all - 4))
        return "the table of unwinding";
      unwinding = 1;
      break;
    }
    default:
      return "a kind of record";
    }
  }
  return NULL;
}

static void show(const char *who) {
  int counts[3] = {0}, lines = 1;
  const char *wrong = read_dump(counts, &lines);
  printf("%s: first [NxP] %d, called [NxP] %d, second [NxP] %d; lines %d; %s; %s%s\n", who,
         counts[0], counts[1], counts[2], lines, is_mapped() ? "mapped" : "not mapped",
         wrong ? "wrong: " : "nothing wrong", wrong ? wrong : "");
  fflush(stdout);
}

int main(void) {
  volatile int sum = first(1);
  show("parent");
  pid_t child = fork();
  if (child == 0) {
    sum += second(sum) + first(2);
    show("child");
    unlink(path());
    _exit(0);
  }
  waitpid(child, NULL, 0);
  show("parent");
  unlink(path());
  return sum != 4;
}

// FLICK_PERF=map: each translation has a line with its name and place in /tmp/perf-PID.map; a child
// of fork has a file of its own for what it translates.
// ONLY: flick
// ENV: FLICK_PERF=map
// SKIP-MODE: ahead,interp nothing is translated at run time
// SKIP-VALGRIND: the translations are in memory of another name
// OUT: parent: first [NxP] 1, called [NxP] 1, second [NxP] 0; 0 bad lines
// OUT: child: first [NxP] 0, called [NxP] 0, second [NxP] 1; 0 bad lines
// OUT: parent: first [NxP] 1, called [NxP] 1, second [NxP] 0; 0 bad lines
#include <flick.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

FLICK_NXP __attribute__((noinline)) static int called(int x) { return 3 * x; }
FLICK_NXP static int first(int x) { return called(x) + 1; }
FLICK_NXP static int second(int x) { return x - 1; }

// Whether all of a place is in memory for code, and of a kind whose names perf looks up in the map.
static int is_code(unsigned long start, unsigned long size) {
  char line[512], mode[8];
  unsigned long from, to;
  int found = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 && from <= start && start + size <= to)
      found = mode[2] == 'x' && strstr(line, "/dev/zero") != NULL;
  fclose(maps);
  return found;
}

static void show(const char *who) {
  static const char *const names[] = {"first [NxP]", "called [NxP]", "second [NxP]"};
  int counts[3] = {0}, bad = 0;
  char path[64], line[512], name[256];
  unsigned long start, size, last_start = 0, last_end = 0;
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  FILE *map = fopen(path, "r");
  while (map && fgets(line, sizeof line, map)) {
    if (sscanf(line, "%lx %lx %255[^\n]", &start, &size, name) != 3 || size == 0 ||
        !is_code(start, size) || (start < last_end && last_start < start + size)) {
      bad++;
      continue;
    }
    last_start = start, last_end = start + size;
    for (int i = 0; i < 3; i++)
      counts[i] += strcmp(name, names[i]) == 0;
  }
  if (map)
    fclose(map);
  printf("%s: %s %d, %s %d, %s %d; %d bad lines\n", who, names[0], counts[0], names[1], counts[1],
         names[2], counts[2], bad);
  fflush(stdout);
}

static void drop(void) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  unlink(path);
}

int main(void) {
  volatile int sum = first(1);
  show("parent");
  pid_t child = fork();
  if (child == 0) {
    sum += second(sum) + first(2);
    show("child");
    drop();
    _exit(0);
  }
  waitpid(child, NULL, 0);
  show("parent");
  drop();
  return sum != 4;
}

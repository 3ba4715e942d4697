// Two programs make root calls of any kind, with arguments of any kind and all the numbers that
// they get, while another one uses a server of files. It, the server and the kernel go on.
//   forged_calls COUNT
#include <errno.h>
#include <fcntl.h>
#include <flick/card.h>
#include <flick/files.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
  FIRST = FLICK_CALL_TILE_FIND,
  LAST = FLICK_CALL_ACCELERATOR_TURNS,
  KNOWN = 64,
  ROUNDS = 150
};

static uint64_t seed = 88172645463325252ull;

static uint64_t below(uint64_t limit) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (seed >> 16) % limit;
}

static uint64_t buffer[1024], known[KNOWN];

static uint64_t argument(int place) {
  // The first one is a capability of most calls.
  if (place == 0 && below(10) < 7)
    return known[below(KNOWN)];
  switch (below(10)) {
  case 0:
    return below(UINT64_MAX) >> below(64);
  case 1:
  case 2:
    return (uintptr_t)buffer + 8 * below(1000);
  case 3:
  case 4:
    return FLICK_PAGE << below(10);
  case 5:
  case 6:
    return known[below(KNOWN)];
  default:
    return below(12);
  }
}

static bool makes_capability(uint64_t call) {
  switch (call) {
  case FLICK_CALL_TILE_MEMORY:
  case FLICK_CALL_CAPABILITY_NARROW:
  case FLICK_CALL_GATE_CREATE:
  case FLICK_CALL_GATE_SENDER:
  case FLICK_CALL_ACTIVITY_CREATE:
  case FLICK_CALL_ACTIVITY_GATE:
  case FLICK_CALL_ACTIVITY_MEMORY:
  case FLICK_CALL_SERVICE_CREATE:
  case FLICK_CALL_SESSION_OPEN:
  case FLICK_CALL_VIEW_CREATE:
    return true;
  }
  return false;
}

// Some calls would hardly ever succeed otherwise.
static void help(uint64_t call, uint64_t *arguments) {
  switch (call) {
  case FLICK_CALL_TILE_FIND:
    arguments[0] = arguments[1] = 0;
    break;
  case FLICK_CALL_TILE_MEMORY:
  case FLICK_CALL_ACTIVITY_CREATE:
    arguments[0] = below(10);
    break;
  case FLICK_CALL_CAPABILITY_NARROW:
  case FLICK_CALL_VIEW_SET:
    arguments[1] = below(2) * FLICK_PAGE;
    arguments[2] = below(FLICK_PAGE);
    arguments[3] = below(4);
    break;
  case FLICK_CALL_TILE_LOAD:
  case FLICK_CALL_TILE_STORE:
    arguments[1] = below(FLICK_PAGE);
    arguments[3] = below(sizeof buffer / 2);
    break;
  case FLICK_CALL_GATE_CALL:
    arguments[2] = 8 * below(16);
    break;
  case FLICK_CALL_SERVICE_CREATE:
    arguments[2] = 1 + below(20);
    break;
  case FLICK_CALL_SESSION_OPEN:
    arguments[0] = (uintptr_t)buffer;
    arguments[1] = 5;
    break;
  }
}

// Where a call has the time at which it ends.
static void limit(uint64_t call, uint64_t *arguments) {
  uint64_t soon = flick_time() + below(20);
  switch (call) {
  case FLICK_CALL_GATE_RECEIVE:
    arguments[2] = soon;
    break;
  case FLICK_CALL_GATE_CALL:
    arguments[4] = soon;
    break;
  case FLICK_CALL_ACTIVITY_WAIT:
    arguments[1] = soon;
    break;
  case FLICK_CALL_SESSION_OPEN:
    arguments[3] = soon;
    break;
  case FLICK_CALL_TILE_MEMORY:
    // Others have to find some.
    arguments[1] %= 1 << 20;
    break;
  }
}

static void forge(uint64_t count) {
  uint64_t good = 0, kinds = 0;
  strcpy((char *)buffer, "files");
  for (uint64_t n = 0; n < count; n++) {
    uint64_t call = FIRST + below(LAST - FIRST + 1), arguments[5], second;
    for (int place = 0; place < 5; place++)
      arguments[place] = argument(place);
    if (below(2))
      help(call, arguments);
    limit(call, arguments);
    if (call == FLICK_CALL_CAPABILITY_REVOKE && below(4))
      continue;
    int64_t result = flick_call(call, arguments[0], arguments[1], arguments[2], arguments[3],
                                arguments[4], 0, &second);
    if (result < 0)
      continue;
    good++;
    kinds |= 1ul << (call - FIRST);
    if (makes_capability(call))
      known[below(KNOWN)] = result;
  }
  // So many of the calls have succeeded at least once.
  printf("%s\n", good > count / 50 && __builtin_popcountl(kinds) > 15 ? "calls of most kinds"
                                                                      : "few calls");
}

static int wrong;

static void expect(int64_t outcome, int64_t wanted, const char *what) {
  if (outcome == wanted)
    return;
  if (wrong++ < 10)
    printf("%s: %ld in place of %ld (errno %d)\n", what, (long)outcome, (long)wanted, errno);
}

static void use(void) {
  static char data[30000], got[30000];
  for (int n = 0; n < ROUNDS; n++) {
    size_t size = 1 + n * 197 % sizeof data;
    memset(data, 'a' + n % 26, size);
    int file = open("/srv/files/own", O_RDWR | O_CREAT | O_TRUNC);
    expect(file >= 0, 1, "open");
    expect(write(file, data, size), size, "write");
    expect(lseek(file, 0, SEEK_SET), 0, "lseek");
    expect(read(file, got, sizeof got), size, "read");
    expect(memcmp(data, got, size), 0, "what was written");
    expect(close(file), 0, "close");
  }
  expect(unlink("/srv/files/own"), 0, "unlink");
}

static pid_t start(char **words) {
  pid_t child = 0;
  expect(posix_spawn(&child, words[0], NULL, NULL, words, environ), 0, "posix_spawn");
  return child;
}

static void use_beside(char *own, char *count) {
  pid_t server = start((char *[]){"file-server", "--size", "1", NULL}), forgers[2];
  // It has its name before others know how to take it.
  int first = open("/srv/files/first", O_WRONLY | O_CREAT), status;
  expect(close(first), 0, "close");
  for (int n = 0; n < 2; n++)
    forgers[n] = start((char *[]){own, count, n ? "1" : "2", NULL});
  use();
  for (int n = 0; n < 2; n++)
    expect(waitpid(forgers[n], &status, 0), forgers[n], "waitpid");
  use();
  expect(kill(server, SIGKILL), 0, "kill");
  printf("checks that fail: %d\n", wrong);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    use_beside(argv[0], argv[1]);
    return wrong != 0;
  }
  seed += atol(argv[2]);
  forge(atol(argv[1]));
  return 0;
}

// Programs that move to another tile when they have begun: `moving_programs FILE` starts itself on
// core0 and core1, from FILE. A tile that has nothing to do takes one of the other's. A program
// that calls one of its own tile takes the free tile. Programs with threads or gates keep their
// tile. Children have another first argument.
#include <errno.h>
#include <fcntl.h>
#include <flick/programs.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS = 4096, RANDOM = 400 };
enum { STOP = 1, CALLS = 2 };

static int wrong;
static char *file;
static size_t size;
static uint64_t dram, second, tiles[2], state = 88172645463325252ul;

static bool any_end;

static void expect(int64_t outcome, int64_t wanted, const char *what) {
  if (outcome == wanted || any_end)
    return;
  printf("%s: %ld in place of %ld\n", what, (long)outcome, (long)wanted);
  wrong++;
}

static uint64_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state >> 8;
}

// What a child computes: by a list in its heap, by pages that it uses late, by floating point, and
// by what is on its stack.
struct link {
  struct link *next;
  uint64_t value;
};

static uint64_t rounds(uint64_t count, uint64_t seed, int64_t memory) {
  struct link *first = NULL;
  uint64_t own = seed * 2 + 1, sum = 0, words[64];
  double part = (double)seed;
  static uint64_t late[64][512];
  memset(late, 0, sizeof late);
  for (uint64_t n = 0; n < count; n++) {
    struct link *link = malloc(sizeof *link);
    *link = (struct link){first, next(&own)};
    first = link;
    part = sqrt(part + (double)(link->value % 1000));
    late[n % 64][n / 64 % 512] += link->value;
    words[n % 64] = sum ^ late[n % 64][0];
    for (struct link *at = first; at; at = at->next)
      sum = sum * 31 + at->value;
    sum += words[n % 64] + (uint64_t)(part * 1e6);
    // By an endpoint of the tile, which the next tile has not.
    if (memory >= 0 && n % 16 == 0) {
      uint64_t shown[2] = {n, sum};
      if (flick_tile_store(memory, 64, (uint64_t)shown, 16) ||
          flick_tile_load(memory, 64, (uint64_t)shown, 16) || shown[1] != sum)
        return 0;
    }
    if (n % 256 == 255 || n + 1 == count)
      while (first) {
        link = first;
        first = link->next;
        free(link);
      }
  }
  return sum;
}

static void *sleeper(void *word) {
  while (!__atomic_load_n((uint32_t *)word, __ATOMIC_RELAXED))
    flick_thread_sleep(flick_time() + 100);
  return NULL;
}

// The first word of its memory says when it is to end.
static bool is_told(int64_t memory) {
  uint64_t words[1];
  return flick_tile_load(memory, 0, (uint64_t)words, 8) || words[0] == STOP;
}

static int serves(int64_t memory) {
  uint64_t words[15], label, gate = flick_gate_create();
  if (flick_service_create(gate, (uint64_t)"near", 4, 1) < 0)
    return 2;
  while (!is_told(memory)) {
    int64_t got = flick_gate_receive(gate, (uint64_t)words, flick_time() + 1000, &label);
    if (got == -FLICK_ETIMEDOUT)
      continue;
    if (got < 0)
      return 3;
    // 0 accepts a session; others are asked for a square.
    words[0] = label == 1 ? 0 : words[0] * words[0];
    if ((got & 0xff) != 255)
      flick_gate_answer(gate, got & 0xff, (uint64_t)words, label == 1 ? 24 : 8);
  }
  return 0;
}

static int calls(int64_t memory) {
  uint64_t words[15], answer[15];
  int64_t session;
  while ((session = flick_session_open((uint64_t)"near", 4, 7, FLICK_FOR_EVER)) == -FLICK_ENOENT)
    flick_thread_sleep(flick_time() + 1000);
  if (session < 0)
    return 2;
  for (uint64_t n = 1; !is_told(memory); n++) {
    words[0] = n;
    if (flick_gate_call(session, (uint64_t)words, 8, (uint64_t)answer, FLICK_FOR_EVER) < 0 ||
        answer[0] != n * n)
      return 3;
    words[0] = n;
    flick_tile_store(memory, 8, (uint64_t)words, 8);
  }
  return 0;
}

static int child(char **argv) {
  int64_t memory = strtol(argv[2], NULL, 0);
  if (!strcmp(argv[1], "computes")) {
    uint64_t sum = rounds(strtoul(argv[3], NULL, 0), strtoul(argv[4], NULL, 0), memory);
    return flick_tile_store(memory, 16, (uint64_t)&sum, 8) ? 2 : 0;
  }
  if (!strcmp(argv[1], "counts")) {
    // Free memory of its tile.
    uint64_t pages, words[1] = {flick_memory_free(&pages)};
    return flick_tile_store(memory, 24, (uint64_t)words, 8) ? 2 : 0;
  }
  if (!strcmp(argv[1], "serves"))
    return serves(memory);
  if (!strcmp(argv[1], "calls"))
    return calls(memory);
  // Two that keep their tile.
  pthread_t thread;
  static uint32_t ends;
  if (!strcmp(argv[1], "threads") && pthread_create(&thread, NULL, sleeper, &ends))
    return 2;
  if (!strcmp(argv[1], "gates") && flick_gate_create() < 0)
    return 3;
  while (!is_told(memory))
    ;
  ends = 1;
  return !strcmp(argv[1], "threads") && pthread_join(thread, NULL) ? 4 : 0;
}

struct one {
  struct flick_placed program;
  int64_t memory;
};

static void begin(struct one *one, const char *tile, bool may_move, const char *what,
                  uint64_t count, uint64_t seed) {
  char number[24], text[2][24];
  one->memory = flick_tile_memory(dram, 4096);
  expect(flick_placed_create(&one->program, tile, may_move), 0, "a program");
  snprintf(number, 24, "%ld", (long)flick_placed_give(&one->program, one->memory));
  snprintf(text[0], 24, "%lu", (unsigned long)count);
  snprintf(text[1], 24, "%lu", (unsigned long)seed);
  char *argv[] = {"child", (char *)what, number, text[0], text[1], NULL};
  expect(flick_placed_start(&one->program, file, size, argv, NULL), 0, "it begins");
}

static int end(struct one *one, bool is_told) {
  uint64_t word = STOP;
  int status = -1;
  if (is_told)
    expect(flick_tile_store(one->memory, 0, (uint64_t)&word, 8), 0, "it is told");
  expect(flick_placed_wait(&one->program, FLICK_FOR_EVER, &status), 0, "its end");
  expect(flick_placed_end(&one->program), 0, "it goes");
  return status;
}

static void computed(struct one *one, uint64_t count, uint64_t seed) {
  uint64_t sum = 1;
  expect(end(one, false), 0, "the status of one that computes");
  expect(flick_tile_load(one->memory, 16, (uint64_t)&sum, 8), 0, "its sum");
  expect(sum, rounds(count, seed, -1), "its sum");
  flick_capability_revoke(one->memory);
}

static int tile_of(struct one *one) {
  uint64_t tile;
  flick_activity_state(one->program.activity, &tile);
  return tile == tiles[1];
}

static bool comes(struct one *one, int tile, uint64_t within) {
  uint64_t end = flick_time() + within;
  while (tile_of(one) != tile && flick_time() < end)
    flick_thread_sleep(flick_time() + within / 100);
  return tile_of(one) == tile;
}

// Free memory of a tile.
static uint64_t free_of(const char *tile) {
  struct one one;
  uint64_t words[1] = {0};
  begin(&one, tile, false, "counts", 0, 0);
  expect(end(&one, false), 0, "one that counts");
  expect(flick_tile_load(one.memory, 24, (uint64_t)words, 8), 0, "what it has counted");
  flick_capability_revoke(one.memory);
  return words[0];
}

// The tile that is free takes one of two.
static void is_taken(void) {
  struct one first, both[2];
  uint64_t second = flick_program.frequency;
  begin(&first, "core1", false, "waits", 0, 0);
  for (int n = 0; n < 2; n++) {
    begin(&both[n], "core0", true, "computes", 2500, n + 3);
    expect(tile_of(&both[n]), 0, "its first tile");
  }
  expect(end(&first, true), 0, "one that is told");
  flick_capability_revoke(first.memory);
  while (tile_of(&both[0]) + tile_of(&both[1]) == 0 && flick_time() < second)
    flick_thread_sleep(flick_time() + 1000);
  expect(tile_of(&both[0]) + tile_of(&both[1]), 1, "one of them has moved");
  for (int n = 0; n < 2; n++)
    computed(&both[n], 2500, n + 3);
}

// One that calls another of its tile takes the free one.
static void part(void) {
  struct one server, client, other;
  uint64_t before = 0, after = 0;
  begin(&other, "core1", false, "waits", 0, 0);
  begin(&server, "core0", false, "serves", 0, 0);
  begin(&client, "core0", false, "calls", 0, 0);
  expect(end(&other, true), 0, "one that is told");
  flick_capability_revoke(other.memory);
  flick_thread_sleep(flick_time() + flick_program.frequency / 1000);
  expect(tile_of(&client), 0, "one that may not move");
  expect(flick_activity_move(client.program.activity, 1), tiles[0], "it may move");
  expect(comes(&client, 1, flick_program.frequency / 20), 1, "it has moved");
  flick_tile_load(client.memory, 8, (uint64_t)&before, 8);
  flick_thread_sleep(flick_time() + flick_program.frequency / 1000);
  flick_tile_load(client.memory, 8, (uint64_t)&after, 8);
  expect(after > before, 1, "it calls from there");
  expect(end(&client, true), 0, "the client");
  expect(end(&server, true), 0, "the server");
  flick_capability_revoke(client.memory);
  flick_capability_revoke(server.memory);
}

static void stay(const char *what) {
  struct one first, both[2];
  begin(&first, "core1", false, "waits", 0, 0);
  for (int n = 0; n < 2; n++)
    begin(&both[n], "core0", true, what, 0, 0);
  expect(end(&first, true), 0, "one that is told");
  flick_capability_revoke(first.memory);
  expect(comes(&both[0], 1, flick_program.frequency / 500), 0, what);
  for (int n = 0; n < 2; n++) {
    expect(tile_of(&both[n]), 0, what);
    expect(end(&both[n], true), 0, what);
    flick_capability_revoke(both[n].memory);
  }
}

// Many that move, end and go at any time.
static void many(void) {
  static struct {
    struct one one;
    uint64_t count;
    int tile;
    bool is_used;
  } all[5];
  int moved = 0;
  for (int n = 0; n < RANDOM; n++) {
    int k = (int)(next(&state) % 5);
    if (!all[k].is_used) {
      all[k].count = 200 + next(&state) % 800;
      begin(&all[k].one, next(&state) % 2 ? "core0" : "core1", true, "computes", all[k].count, k);
      all[k].tile = tile_of(&all[k].one);
    } else {
      moved += tile_of(&all[k].one) != all[k].tile;
      // It is in any step of a move, perhaps.
      if (next(&state) % 3 == 0) {
        expect(flick_placed_end(&all[k].one.program), 0, "one goes");
        flick_capability_revoke(all[k].one.memory);
      } else
        computed(&all[k].one, all[k].count, k);
    }
    all[k].is_used = !all[k].is_used;
    if (next(&state) % 2)
      flick_thread_sleep(flick_time() + next(&state) % (flick_program.frequency / 2000));
  }
  for (int k = 0; k < 5; k++) {
    if (all[k].is_used)
      computed(&all[k].one, all[k].count, k);
    all[k].is_used = false;
  }
  if (moved < 4)
    expect(moved, 4, "moves");
}

static void load_file(const char *path) {
  struct stat about;
  int from = open(path, O_RDONLY);
  if (from < 0 || fstat(from, &about)) {
    perror(path);
    exit(1);
  }
  size = about.st_size;
  file = malloc(size + 8);
  for (size_t done = 0; done < size;) {
    ssize_t got = read(from, file + done, size - done);
    if (got <= 0)
      exit(1);
    done += got;
  }
  close(from);
}

int main(int argc, char **argv) {
  if (argc < 2 || strcmp(argv[0], "moving_programs"))
    return argc > 2 ? child(argv) : 1;
  load_file(argv[1]);
  dram = flick_tile_find(0, 0, 0, &second);
  tiles[0] = flick_tile_find((uint64_t)"core0", 5, 0, &second);
  tiles[1] = flick_tile_find((uint64_t)"core1", 5, 0, &second);
  // A tile may stop at any time: then it is enough that this ends, and that others go on.
  if (argc > 2) {
    any_end = true;
    many();
    puts("ends");
    return 0;
  }
  // This program uses its own memory before it counts.
  rounds(2600, 1, -1);
  uint64_t pages, all = flick_memory_free(&pages), first = free_of("core0"),
                  other = free_of("core1");
  is_taken();
  part();
  stay("threads");
  stay("gates");
  many();
  expect(free_of("core0"), first, "free memory of a tile behind all moves");
  expect(free_of("core1"), other, "free memory of the other one");
  expect(flick_memory_free(&pages), all, "free memory of the root's tile");
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}

// Programs that a program starts on other tiles: `core_programs FILE` starts itself there, from
// FILE. It looks at what its children are given, at their ends, at what is left behind many of
// them, at bad images, at limits, and at the tiles that they begin on. Children have another first
// argument.
#include <errno.h>
#include <fcntl.h>
#include <flick/programs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANY = 40, OF_TILE = 4, OF_PROCESS = 8, IMAGES = 150, GIVEN = 16 };

static int wrong;
static char *file;
static size_t size;
static uint64_t dram, second, state = 88172645463325252ul;

static void expect(int64_t outcome, int64_t wanted, const char *what) {
  if (outcome == wanted)
    return;
  printf("%s: %ld in place of %ld\n", what, (long)outcome, (long)wanted);
  wrong++;
}

static void fails(int64_t outcome, int error, const char *what) {
  expect(outcome, -1, what);
  if (outcome == -1)
    expect(errno, error, what);
}

static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state >> 8;
}

static void bad_images(const char *tile);
// What a child does. Its arguments behind the name are a word and numbers.
static int child(int argc, char **argv) {
  uint64_t words[15] = {0}, label, number = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
  if (!strcmp(argv[1], "ends"))
    return (int)number;
  if (!strcmp(argv[1], "aborts")) {
    *(volatile int *)8 = 1;
    return 1;
  }
  if (!strcmp(argv[1], "stays"))
    for (;;)
      flick_thread_sleep(FLICK_FOR_EVER);
  if (!strcmp(argv[1], "adds")) {
    // Memory, and a sender by which it says that it is done.
    if (flick_tile_load(number, 0, (uint64_t)words, 16))
      return 2;
    words[0] += words[1];
    if (flick_tile_store(number, 16, (uint64_t)words, 8))
      return 3;
    // It has no right to more.
    if (flick_tile_load(number, 4096, (uint64_t)words, 8) != -FLICK_EINVAL)
      return 4;
    const char *seen = getenv("FACTOR");
    words[1] = seen ? strtoul(seen, NULL, 0) : 0;
    int64_t gate = flick_gate_create();
    if (gate < 0 || flick_gate_send(strtoul(argv[3], NULL, 0), (uint64_t)words, 16, gate, 9))
      return 5;
    return flick_gate_receive(gate, (uint64_t)words, FLICK_FOR_EVER, &label) < 0 ? 6 : 0;
  }
  if (!strcmp(argv[1], "counts")) {
    // Capabilities that its tile has left, and memory.
    uint64_t pages;
    int64_t base = flick_capability_narrow(number, 0, 8, FLICK_READ);
    while (flick_capability_narrow(base, 0, 8, FLICK_READ) >= 0)
      words[0]++;
    flick_capability_revoke(base);
    words[1] = flick_memory_free(&pages);
    return flick_tile_store(number, 0, (uint64_t)words, 16) ? 2 : 0;
  }
  if (!strcmp(argv[1], "nests")) {
    // One more on the other tile, which ends with it.
    int64_t tile = flick_tile_find((uint64_t)argv[2], strlen(argv[2]), 0, &label);
    int64_t program = flick_activity_create(tile);
    if (flick_activity_start(program, strtoul(argv[4], NULL, 0)))
      return 2;
    if (flick_tile_store(strtoul(argv[3], NULL, 0), 0, (uint64_t)"nested\0", 8))
      return 3;
    for (;;)
      flick_thread_sleep(FLICK_FOR_EVER);
  }
  if (!strcmp(argv[1], "tries")) {
    // It has nothing that it was not given: no number is of a capability.
    for (uint64_t n = 0; n < 4096; n++)
      if (flick_capability_revoke(n | (number + n) << 16) != -FLICK_ENOENT)
        return 2;
    return 0;
  }
  return 1;
}

static int begin(struct flick_placed *program, const char *tile, char *const argv[],
                 char *const envp[]) {
  if (flick_placed_create(program, tile, false))
    return -1;
  return flick_placed_start(program, file, size, argv, envp);
}

static int run(const char *tile, char *const argv[]) {
  struct flick_placed program;
  int status = -1;
  expect(begin(&program, tile, argv, NULL), 0, "a program begins");
  expect(flick_placed_wait(&program, FLICK_FOR_EVER, &status), 0, "its end");
  expect(flick_placed_wait(&program, 0, &status), 0, "its end, again");
  expect(flick_placed_end(&program), 0, "it goes");
  return status;
}

// What it is given, and nothing else.
static void given(const char *tile) {
  struct flick_placed program;
  uint64_t words[512] = {30, 12}, message[15], label;
  int64_t memory = flick_tile_memory(dram, 8192), gate = flick_gate_create();
  int64_t part = flick_capability_narrow(memory, 0, 4096, FLICK_READ | FLICK_WRITE);
  int64_t sender = flick_gate_sender(gate, 77, 1);
  expect(flick_tile_store(memory, 0, (uint64_t)words, 16), 0, "words of a program");
  expect(flick_placed_create(&program, tile, false), 0, "a program");
  char numbers[2][24];
  snprintf(numbers[0], 24, "%ld", (long)flick_placed_give(&program, part));
  snprintf(numbers[1], 24, "%ld", (long)flick_placed_give(&program, sender));
  fails(flick_placed_give(&program, gate), EINVAL, "a gate is given");
  fails(flick_placed_give(&program, 12345678), ENOENT, "nothing is given");
  char *argv[] = {"child", "adds", numbers[0], numbers[1], NULL},
       *envp[] = {"A=b", "FACTOR=6", NULL};
  expect(flick_placed_start(&program, file, size, argv, envp), 0, "a program begins");
  fails(flick_placed_start(&program, file, size, argv, envp), EBUSY, "it begins again");
  int64_t got = flick_gate_receive(gate, (uint64_t)message, FLICK_FOR_EVER, &label);
  expect(got >> 8, 16, "bytes of its message");
  expect(label, 77, "its label");
  expect(message[0], 42, "its sum");
  expect(message[1], 6, "its environment");
  expect(flick_tile_load(memory, 0, (uint64_t)words, 24), 0, "its result");
  expect(words[2], 42, "its result");
  int status = -1;
  fails(flick_placed_wait(&program, 0, &status), ETIMEDOUT, "it waits for its answer");
  expect(flick_gate_answer(gate, got & 0xff, (uint64_t)message, 8), 0, "the answer");
  expect(flick_placed_wait(&program, FLICK_FOR_EVER, &status), 0, "its end");
  expect(status, 0, "its status");
  fails(flick_placed_give(&program, part), EBUSY, "it is over");
  expect(flick_placed_end(&program), 0, "it goes");
  fails(flick_placed_wait(&program, 0, &status), ENOENT, "it is gone");
  flick_capability_revoke(memory);
  flick_capability_revoke(gate);
  (void)second;
}

// What a tile has left: capabilities of its programs, and memory.
static void count_left(const char *tile, uint64_t left[2]) {
  struct flick_placed program;
  char number[24];
  int status = -1;
  int64_t memory = flick_tile_memory(dram, 4096);
  expect(flick_placed_create(&program, tile, false), 0, "a program that counts");
  snprintf(number, sizeof number, "%ld", (long)flick_placed_give(&program, memory));
  char *argv[] = {"child", "counts", number, NULL};
  expect(flick_placed_start(&program, file, size, argv, NULL), 0, "it begins");
  expect(flick_placed_wait(&program, FLICK_FOR_EVER, &status), 0, "its end");
  expect(status, 0, "its status");
  expect(flick_placed_end(&program), 0, "it goes");
  expect(flick_tile_load(memory, 0, (uint64_t)left, 16), 0, "what it has counted");
  flick_capability_revoke(memory);
}

// An image in memory that a program may give to others, which it starts by itself.
static int64_t make_image(void) {
  struct flick_program_image image = {FLICK_IMAGE_VERSION, 2, 0, 12, 64, size};
  int64_t memory = flick_tile_memory(dram, 64 + size);
  flick_tile_store(memory, 0, (uint64_t)&image, sizeof image);
  flick_tile_store(memory, sizeof image, (uint64_t)"child\0stays\0\0\0\0\0", 16);
  for (size_t done = 0; done < size; done += 65536)
    flick_tile_store(memory, 64 + done, (uint64_t)file + done,
                     size - done < 65536 ? size - done : 65536);
  return memory;
}

// Programs of programs end with them.
static void nested(const char *tile, const char *other) {
  int64_t image = make_image();
  for (int n = 0; n < 12; n++) {
    struct flick_placed program;
    char number[24], of_image[24], seen[8] = "";
    int64_t memory = flick_tile_memory(dram, 4096);
    expect(flick_placed_create(&program, tile, false), 0, "a program that starts one");
    snprintf(number, sizeof number, "%ld", (long)flick_placed_give(&program, memory));
    snprintf(of_image, sizeof of_image, "%ld", (long)flick_placed_give(&program, image));
    char *argv[] = {"child", "nests", (char *)other, number, of_image, NULL};
    expect(flick_placed_start(&program, file, size, argv, NULL), 0, "it begins");
    while (!seen[0] && flick_placed_wait(&program, flick_time() + 1000, NULL) && errno == ETIMEDOUT)
      expect(flick_tile_load(memory, 0, (uint64_t)seen, 8), 0, "whether it has begun");
    expect(strcmp(seen, "nested"), 0, "it has started one");
    expect(flick_placed_end(&program), 0, "both go");
    flick_capability_revoke(memory);
  }
  flick_capability_revoke(image);
}

static void ends(const char *tile) {
  uint64_t before[2], after[2];
  struct flick_placed program;
  char *seven[] = {"child", "ends", "7", NULL}, *faults[] = {"child", "aborts", NULL};
  char *stays[] = {"child", "stays", NULL}, *tries[] = {"child", "tries", "3", NULL};
  expect(run(tile, seven), 7, "a status");
  count_left(tile, before);
  expect(run(tile, faults) >> 8, 1, "the status of an exception");
  expect(run(tile, tries), 0, "what it reaches");
  for (int n = 0; n < MANY; n++)
    expect(run(tile, seven), 7, "the status of one of many");
  // Revoked while they run: places are free again.
  for (int n = 0; n < MANY; n++) {
    expect(begin(&program, tile, stays, NULL), 0, "one that stays");
    fails(flick_placed_wait(&program, flick_time() + 1000, NULL), ETIMEDOUT, "it goes on");
    expect(flick_placed_end(&program), 0, "one that stays goes");
  }
  // Not begun, too.
  for (int n = 0; n < MANY; n++) {
    expect(flick_placed_create(&program, tile, false), 0, "one that does not begin");
    expect(flick_placed_end(&program), 0, "it goes");
  }
  nested(tile, strcmp(tile, "core0") ? "core0" : "core1");
  bad_images(tile);
  count_left(tile, after);
  expect(before[0] > 100, 1, "capabilities of a tile");
  expect(after[0], before[0], "capabilities that are left behind them");
  expect(after[1], before[1], "memory that is left behind them");
}

static void limits(const char *tile) {
  struct flick_placed all[OF_PROCESS], other;
  for (int n = 0; n < OF_TILE; n++)
    expect(flick_placed_create(&all[n], tile, false), 0, "programs of a tile");
  fails(flick_placed_create(&other, tile, false), ENOMEM, "one more");
  int64_t memory = flick_tile_memory(dram, 4096);
  for (int n = 0; n < GIVEN; n++)
    if (flick_placed_give(&all[0], memory) < 0)
      wrong++;
  fails(flick_placed_give(&all[0], memory), EBUSY, "one capability more");
  for (int n = 0; n < OF_TILE; n++)
    expect(flick_placed_end(&all[n]), 0, "they go");
  fails(flick_placed_create(&other, "cor", false), ENOENT, "no tile of this name");
  fails(flick_placed_create(&other, "core7", false), ENOENT, "no tile of this number");
  expect(flick_activity_endpoint(memory, 4, memory), -FLICK_EINVAL, "no activity");
  flick_capability_revoke(memory);
}

// Programs that may move begin on different tiles.
static void moves(void) {
  struct flick_placed all[4];
  char *stays[] = {"child", "stays", NULL};
  unsigned tiles[64] = {0};
  for (int n = 0; n < 4; n++) {
    uint64_t tile;
    expect(flick_placed_create(&all[n], "core", true), 0, "one that may move");
    int64_t memory = flick_tile_memory(dram, 4096);
    expect(flick_placed_give(&all[n], memory) > 0, 1, "it is given something");
    expect(flick_activity_state(all[n].activity, &tile), 0, "it has not begun");
    expect(flick_placed_start(&all[n], file, size, stays, NULL), 0, "it begins");
    expect(flick_activity_state(all[n].activity, &tile), 2, "it has begun");
    tiles[tile]++;
    flick_capability_revoke(memory);
  }
  int most = 0, used = 0;
  for (int n = 0; n < 64; n++) {
    used += tiles[n] != 0;
    most = (int)tiles[n] > most ? (int)tiles[n] : most;
  }
  // This program is itself on one of the tiles, perhaps.
  expect(used, 2, "tiles that they are on");
  expect(most <= 3, 1, "programs of one tile");
  for (int n = 0; n < 4; n++)
    expect(flick_placed_end(&all[n]), 0, "they go");
}

// An image that is damaged, or none at all: an error, or a program that ends by itself.
static void bad_images(const char *tile) {
  struct flick_placed program;
  char *bytes = malloc(size);
  int64_t memory = flick_tile_memory(dram, size + 4096), small = flick_tile_memory(dram, 16);
  int64_t sealed = flick_capability_narrow(memory, 0, 4096, FLICK_WRITE);
  expect(flick_placed_create(&program, tile, false), 0, "a program");
  expect(flick_activity_start(program.activity, 99999), -FLICK_ENOENT, "no image");
  expect(flick_activity_start(program.activity, program.activity), -FLICK_EINVAL, "no memory");
  expect(flick_activity_start(program.activity, sealed), -FLICK_EPERM, "none to read");
  expect(flick_activity_start(program.activity, memory), -FLICK_EINVAL, "an empty image");
  fails(flick_placed_wait(&program, FLICK_FOR_EVER, NULL), EINVAL, "it has not begun");
  expect(flick_activity_start(program.activity, memory), -FLICK_EBUSY, "it is over");
  flick_placed_end(&program);
  expect(flick_capability_revoke(small), 0, "memory goes");
  for (int n = 0; n < IMAGES; n++) {
    struct flick_program_image image = {FLICK_IMAGE_VERSION, 1, 0, 6, 56, size};
    memcpy(bytes, file, size);
    // Some words of the headers, or all of it.
    uint64_t *words = (uint64_t *)(n % 3 ? bytes : (char *)&image);
    for (uint64_t k = next() % 4 + 1; k; k--)
      words[next() % (n % 3 ? 48 : 6)] ^= next() % 2 ? 1ul << next() % 64 : next();
    if (n % 16 == 15)
      for (size_t k = 0; k < size; k++)
        bytes[k] = (char)next();
    expect(flick_placed_create(&program, tile, false), 0, "a program of a bad image");
    flick_tile_store(memory, 0, (uint64_t)&image, sizeof image);
    flick_tile_store(memory, sizeof image, (uint64_t)"ends\0\0\0", 8);
    for (size_t done = 0; done < size; done += 65536)
      flick_tile_store(memory, 56 + done, (uint64_t)bytes + done,
                       size - done < 65536 ? size - done : 65536);
    int64_t begun = flick_activity_start(program.activity, memory);
    if (begun != 0 && begun != -FLICK_EINVAL && begun != -FLICK_ENOMEM &&
        begun != -FLICK_EADDRINUSE && begun != -FLICK_EFAULT)
      expect(begun, -FLICK_EINVAL, "a bad image");
    // Its code may be good.
    flick_placed_wait(&program, flick_time() + flick_program.frequency / 1000, NULL);
    expect(flick_placed_end(&program), 0, "a bad program goes");
  }
  free(bytes);
  flick_capability_revoke(memory);
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
  // A bad image can have arguments of any number.
  if (argc < 3 || strcmp(argv[0], "core_programs"))
    return argc > 1 && !strcmp(argv[0], "child") ? child(argc, argv) : 1;
  load_file(argv[1]);
  dram = flick_tile_find(0, 0, 0, &second);
  for (int n = 2; n < argc; n++) {
    given(argv[n]);
    ends(argv[n]);
    limits(argv[n]);
  }
  moves();
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}

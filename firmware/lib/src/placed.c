// Programs on other tiles: their images are in memory of a tile until they are loaded.
#include <errno.h>
#include <fcntl.h>
#include <flick/programs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// What a call of the unit copies at most.
#define PIECE (64ul << 10)
// How long a tile needs that says EAGAIN: a part of a second.
#define PAUSE 10000

static int64_t made(int64_t result) {
  if (result >= 0)
    return result;
  errno = flick_errno(result);
  return -1;
}

int flick_placed_create(struct flick_placed *program, const char *tile, bool may_move) {
  uint64_t endpoints;
  int64_t number = made(flick_tile_find((uintptr_t)tile, strlen(tile), 0, &endpoints));
  int64_t activity = number < 0 ? -1 : made(flick_activity_create(number));
  if (activity < 0)
    return -1;
  program->activity = activity;
  return may_move && made(flick_activity_move(activity, 1)) < 0 ? -1 : 0;
}

int64_t flick_placed_give(const struct flick_placed *program, uint64_t capability) {
  return made(flick_activity_give(program->activity, capability));
}

static size_t sum_up(char *const texts[], uint64_t *count) {
  size_t size = 0;
  for (; texts && texts[*count]; ++*count)
    size += strlen(texts[*count]) + 1;
  return size;
}

static char *put(char *at, char *const texts[]) {
  for (; texts && *texts; texts++)
    at = stpcpy(at, *texts) + 1;
  return at;
}

static int64_t store(uint64_t memory, uint64_t offset, const char *from, size_t size) {
  int64_t result = 0;
  for (size_t done = 0; result >= 0 && done < size; done += PIECE) {
    size_t piece = size - done < PIECE ? size - done : PIECE;
    result = made(flick_tile_store(memory, offset + done, (uintptr_t)(from + done), piece));
  }
  return result;
}

// Memory of the first tile that has as much.
static int64_t take_memory(size_t size) {
  uint64_t endpoints;
  int64_t tile = -1, memory;
  do {
    tile = made(flick_tile_find(0, 0, tile + 1, &endpoints));
    memory = tile < 0 ? -1 : made(flick_tile_memory(tile, size));
  } while (tile >= 0 && memory < 0 && errno == ENOMEM);
  return memory;
}

static int64_t start(const struct flick_placed *program, uint64_t memory) {
  int64_t result;
  while ((result = flick_activity_start(program->activity, memory)) == -FLICK_EAGAIN)
    flick_thread_sleep(flick_time() + flick_program.frequency / PAUSE);
  return made(result);
}

int flick_placed_start(const struct flick_placed *program, const void *file, size_t size,
                       char *const argv[], char *const envp[]) {
  struct flick_program_image image = {.version = FLICK_IMAGE_VERSION, .size = size};
  image.texts = sum_up(argv, &image.arguments);
  image.texts += sum_up(envp, &image.environment);
  image.file = (sizeof image + image.texts + 7) & ~7ul;
  char *first = malloc(image.file);
  if (!first)
    return -1;
  memcpy(first, &image, sizeof image);
  put(put(first + sizeof image, argv), envp);
  int64_t memory = take_memory(image.file + size);
  int64_t result = memory < 0 ? -1 : store(memory, 0, first, image.file);
  if (result >= 0)
    result = store(memory, image.file, file, size);
  if (result >= 0)
    result = start(program, memory);
  int error = errno;
  if (memory >= 0)
    flick_capability_revoke(memory);
  free(first);
  errno = error;
  return result < 0 ? -1 : 0;
}

int flick_placed_start_file(const struct flick_placed *program, const char *path,
                            char *const argv[], char *const envp[]) {
  int file = open(path, O_RDONLY);
  struct stat about;
  if (file < 0)
    return -1;
  char *bytes = NULL;
  int result = fstat(file, &about);
  if (result == 0)
    bytes = malloc(about.st_size + 1);
  ssize_t size = bytes ? 0 : -1, got = 1;
  while (size >= 0 && got > 0 && size < about.st_size) {
    got = read(file, bytes + size, about.st_size - size);
    size = got < 0 ? -1 : size + got;
  }
  close(file);
  result = size < 0 ? -1 : flick_placed_start(program, bytes, size, argv, envp);
  int error = errno;
  free(bytes);
  errno = error;
  return result;
}

int flick_placed_wait(const struct flick_placed *program, uint64_t until, int *status) {
  uint64_t value;
  int64_t how = made(flick_activity_wait(program->activity, until, &value));
  if (how == FLICK_STATUS_FAILED) {
    errno = flick_errno(-(int64_t)value);
    return -1;
  }
  if (how >= 0 && status)
    *status = value;
  return how < 0 ? -1 : 0;
}

int flick_placed_end(struct flick_placed *program) {
  return made(flick_capability_revoke(program->activity)) < 0 ? -1 : 0;
}

// An accelerator of requests adds vectors that are files of a server, by a pager of the library.
#include <errno.h>
#include <fcntl.h>
#include <flick/pager.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Numbers of a vector, and steps: each adds 8 of them.
enum { COUNT = 4096, SIZE = 8 * COUNT, STEPS = COUNT / 8, PAGE = 4096 };
enum { BAD_ADDRESS = 14, NO_ACCESS = 13, ANSWERS = 1, FAULTS };
#define MAPPED 0x40000000ul

static double vectors[2][COUNT], sums[COUNT];
static struct flick_files files;
static uint64_t gate;
static int wrong, faults;

static void expect(int64_t outcome, int64_t wanted, const char *what) {
  if (outcome == wanted)
    return;
  printf("%s: %ld in place of %ld (errno %d)\n", what, (long)outcome, (long)wanted, errno);
  wrong++;
}

static void fails(int64_t outcome, int error, const char *what) {
  expect(outcome, -1, what);
  expect(errno, error, what);
}

static uint64_t good(int64_t outcome, const char *what) {
  if (outcome >= 0)
    return (uint64_t)outcome;
  printf("%s fails: %s\n", what, strerror(flick_errno(outcome)));
  exit(1);
}

static void write_file(const char *path, const void *data, size_t behind) {
  static const char zeros[PAGE];
  struct flick_file file;
  expect(flick_file_open(&files, &file, path, O_WRONLY | O_CREAT | O_TRUNC), 0, "open");
  expect(flick_file_write(&file, zeros, behind), (ssize_t)behind, "write");
  expect(flick_file_write(&file, data, SIZE), SIZE, "write");
  expect(flick_file_close(&file), 0, "close");
}

// Makes all steps: the error, or how many were made.
static int64_t steps(struct flick_pager *pager, uint64_t sender) {
  uint64_t request[10] = {0, 0, 1, 3}, message[15], label;
  for (int n = 0; n < 3; n++) {
    request[4 + 2 * n] = MAPPED + (uint64_t)n * SIZE;
    request[5 + 2 * n] = SIZE;
  }
  int64_t sent;
  do
    sent = flick_gate_send(sender, (uintptr_t)request, sizeof request, gate, ANSWERS);
  while (sent == -FLICK_EAGAIN);
  good(sent, "gate_send");
  for (;;) {
    uint64_t taken =
        good(flick_gate_receive(gate, (uintptr_t)message, FLICK_FOR_EVER, &label), "gate_receive");
    if (label != FAULTS)
      return message[0] ? -(int64_t)message[0] : (int64_t)message[1];
    faults++;
    expect(flick_pager_answer(pager, taken & 0xff, message), 0, "the answer to a fault");
  }
}

static uint64_t begin(struct flick_pager *pager, uint64_t *sender) {
  uint64_t endpoints;
  uint64_t tile = good(flick_tile_find((uintptr_t)"vector-sum", 10, 0, &endpoints), "tile_find");
  int64_t activity;
  while ((activity = flick_activity_create(tile)) == -FLICK_EBUSY)
    ;
  good(activity, "activity_create");
  expect(flick_pager_begin(pager, (uint64_t)activity, gate, FAULTS), 0, "pager_begin");
  uint64_t own = good(flick_activity_gate((uint64_t)activity), "its gate");
  *sender = good(flick_gate_sender(own, 0, 1), "sender");
  return (uint64_t)activity;
}

static void check_sums(const char *what) {
  struct flick_file file;
  expect(flick_file_open(&files, &file, "/c", O_RDONLY), 0, "open");
  expect(flick_file_read(&file, sums, sizeof sums), SIZE, "read");
  expect(flick_file_close(&file), 0, "close");
  int bad = 0;
  for (int n = 0; n < COUNT; n++)
    bad += sums[n] != vectors[0][n] + vectors[1][n];
  expect(bad, 0, what);
}

int main(void) {
  for (int n = 0; n < COUNT; n++) {
    vectors[0][n] = n * 3;
    vectors[1][n] = n * 0.25;
  }
  expect(flick_files_connect(&files, "files", FLICK_FOR_EVER), 0, "connect");
  write_file("/a", vectors[0], PAGE);
  write_file("/b", vectors[1], 0);
  write_file("/c", sums, 0);
  gate = good(flick_gate_create(), "gate_create");
  struct flick_pager pager;
  uint64_t sender, activity = begin(&pager, &sender);
  expect(flick_pager_map(&pager, MAPPED, &files, "/a", O_RDONLY, PAGE, SIZE), 0, "map");
  expect(flick_pager_map(&pager, MAPPED + SIZE, &files, "/b", O_RDONLY, 0, SIZE), 0, "map");
  expect(flick_pager_map(&pager, MAPPED + 2 * SIZE, &files, "/c", O_RDWR, 0, SIZE), 0, "map");
  uint64_t free = MAPPED + 4 * SIZE;
  fails(flick_pager_map(&pager, MAPPED + SIZE, &files, "/b", O_RDONLY, 0, SIZE), EINVAL,
        "a range that is there");
  fails(flick_pager_map(&pager, free, &files, "/b", O_RDONLY, 8, PAGE), EINVAL, "half of a page");
  fails(flick_pager_map(&pager, free, &files, "/b", O_WRONLY, 0, PAGE), EINVAL, "writes alone");
  fails(flick_pager_map(&pager, free, &files, "/b", O_RDONLY, PAGE, SIZE), ENXIO, "too much");
  fails(flick_pager_map(&pager, free, &files, "/none", O_RDONLY, 0, SIZE), ENOENT, "no file");
  good(flick_activity_start(activity, FLICK_INPUT_ASKED), "activity_start");
  expect(steps(&pager, sender), STEPS, "all steps");
  expect(faults, 3 * SIZE / PAGE, "pages");
  check_sums("sums in a file");
  expect(flick_pager_end(&pager), 0, "pager_end");
  expect(steps(&pager, sender), -BAD_ADDRESS, "pages that are mapped no more");
  expect(flick_capability_revoke(activity), 0, "its end");

  // A file that is to be read is not written.
  activity = begin(&pager, &sender);
  expect(flick_pager_map(&pager, MAPPED, &files, "/a", O_RDONLY, PAGE, SIZE), 0, "map");
  expect(flick_pager_map(&pager, MAPPED + SIZE, &files, "/b", O_RDONLY, 0, SIZE), 0, "map");
  expect(flick_pager_map(&pager, MAPPED + 2 * SIZE, &files, "/c", O_RDONLY, 0, SIZE), 0, "map");
  for (int n = 0; n < 2; n++)
    expect(flick_pager_map(&pager, free + (uint64_t)n * PAGE, &files, "/c", O_RDONLY, 0, PAGE), 0,
           "map");
  fails(flick_pager_map(&pager, MAPPED + 8 * SIZE, &files, "/c", O_RDONLY, 0, PAGE), ENOSPC,
        "a range too many");
  good(flick_activity_start(activity, FLICK_INPUT_ASKED), "activity_start");
  expect(steps(&pager, sender), -NO_ACCESS, "a write to a file that is to be read");
  // Bytes that are the file's no more are out of reach.
  struct flick_file file;
  expect(flick_file_open(&files, &file, "/b", O_RDWR), 0, "open");
  expect(flick_file_resize(&file, 0), 0, "resize");
  expect(steps(&pager, sender) < 0, 1, "a file that was cut");
  expect(flick_file_close(&file), 0, "close");
  expect(flick_pager_end(&pager), 0, "pager_end");
  expect(flick_capability_revoke(activity), 0, "its end");
  expect(flick_files_disconnect(&files), 0, "disconnect");
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}

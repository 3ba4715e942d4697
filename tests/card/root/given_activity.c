// An activity that was given to another process: if that one gives it back or ends, it is the
// giver's still. If the giver ends it, it is of no use for the other one.
#include <flick/card.h>
#include <stdio.h>
#include <string.h>

static int wrong;

static int64_t expect(int64_t outcome, int is_good, const char *what) {
  if ((outcome >= 0) != is_good) {
    printf("%s: %ld\n", what, (long)outcome);
    wrong++;
  }
  return outcome;
}

int main(void) {
  uint64_t endpoints, status;
  int64_t fft = flick_tile_find((uint64_t)"fft", 3, 0, &endpoints);
  int64_t activity = expect(flick_activity_create(fft), 1, "an activity");
  int64_t child = expect(flick_process_create(), 1, "a process");
  expect(flick_capability_give(activity, child), 1, "it is given");
  expect(flick_process_end(child, 0), 1, "the process ends");
  expect(flick_process_wait(child, FLICK_FOR_EVER, &status), 1, "its end");
  expect(flick_activity_memory(activity), 1, "its memory");
  expect(flick_activity_start(activity, FLICK_INPUT_PUSHED), 1, "its start");
  child = expect(flick_process_create(), 1, "a second process");
  int64_t given = expect(flick_capability_give(activity, child), 1, "it is given again");
  expect(flick_capability_revoke(given), 0, "the number is the other process's");
  expect(flick_capability_revoke(activity), 1, "its end");
  expect(flick_activity_memory(activity), 0, "its memory behind that");
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}

// Pipes with accelerators at their ends: the program writes an image to a pipe that an FFT reads.
// It writes to another pipe, which the inverse FFT reads, and the program reads what that writes.
#include <flick/card.h>
#include <flick/files.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2048, BLOCKS = 150, IMAGE = BLOCKS * BLOCK };

static float image[IMAGE / 4], result[IMAGE / 4];
static struct flick_file to_fft[2], between[2], from_ifft[2];

static uint64_t good(int64_t outcome, const char *what) {
  if (outcome < 0) {
    printf("%s fails: %ld\n", what, (long)outcome);
    exit(1);
  }
  return (uint64_t)outcome;
}

static void done(int outcome, const char *what) {
  if (outcome < 0) {
    perror(what);
    exit(1);
  }
}

static uint64_t activity(const char *name) {
  uint64_t endpoints;
  int64_t tile = flick_tile_find((uintptr_t)name, strlen(name), 0, &endpoints);
  return good(flick_activity_create(good(tile, name)), "activity_create");
}

static void connect(uint64_t of, const struct flick_file *in, const struct flick_file *out) {
  good(flick_activity_endpoint(of, FLICK_INPUT_REQUESTS, in->requests), "activity_endpoint");
  good(flick_activity_endpoint(of, FLICK_INPUT_DATA, in->data), "activity_endpoint");
  good(flick_activity_endpoint(of, FLICK_OUTPUT_REQUESTS, out->requests), "activity_endpoint");
  good(flick_activity_endpoint(of, FLICK_OUTPUT_DATA, out->data), "activity_endpoint");
}

// In pieces that are no blocks.
static void *feed(void *unused) {
  (void)unused;
  for (size_t at = 0; at < IMAGE; at += 3000) {
    size_t part = IMAGE - at < 3000 ? IMAGE - at : 3000;
    if (flick_file_write(&to_fft[1], (char *)image + at, part) != (ssize_t)part)
      perror("write");
  }
  done(flick_file_close(&to_fft[1]), "close");
  return NULL;
}

static void wait_for(uint64_t of, const char *name) {
  uint64_t fault;
  uint64_t status = good(flick_activity_wait(of, FLICK_FOR_EVER, &fault), "activity_wait");
  printf("%s ends with status %lu, error %lu\n", name, (unsigned long)status, (unsigned long)fault);
}

int main(void) {
  struct flick_files pipes;
  for (uint64_t n = 0; n < IMAGE / 4; n++)
    image[n] = n * 31 % 255;
  done(flick_files_connect(&pipes, "pipes", FLICK_FOR_EVER), "connect");
  done(flick_files_pipe(&pipes, to_fft), "pipe");
  done(flick_files_pipe(&pipes, between), "pipe");
  done(flick_files_pipe(&pipes, from_ifft), "pipe");
  uint64_t fft = activity("fft"), ifft = activity("ifft");
  connect(fft, &to_fft[0], &between[1]);
  connect(ifft, &between[0], &from_ifft[1]);
  good(flick_activity_start(fft, FLICK_INPUT_ASKED), "activity_start");
  good(flick_activity_start(ifft, FLICK_INPUT_ASKED), "activity_start");
  pthread_t thread;
  pthread_create(&thread, NULL, feed, NULL);
  size_t size = 0;
  ssize_t got;
  while ((got = flick_file_read(&from_ifft[0], (char *)result + size, IMAGE - size)) > 0)
    size += got;
  done(got, "read");
  char rest;
  printf("read %lu, and behind it %ld\n", (unsigned long)size,
         (long)flick_file_read(&from_ifft[0], &rest, 1));
  pthread_join(thread, NULL);
  wait_for(fft, "fft");
  wait_for(ifft, "ifft");
  uint64_t wrong = 0;
  for (uint64_t n = 0; n < IMAGE / 4; n++) {
    float error = result[n] - image[n];
    wrong += !(error < 0.01f && error > -0.01f);
  }
  printf("points that are wrong: %lu\n", (unsigned long)wrong);

  // The reader of an accelerator's output goes: its next request has an error.
  done(flick_files_pipe(&pipes, to_fft), "pipe");
  done(flick_files_pipe(&pipes, between), "pipe");
  good(flick_capability_revoke(fft), "capability_revoke");
  fft = activity("fft");
  connect(fft, &to_fft[0], &between[1]);
  good(flick_activity_start(fft, FLICK_INPUT_ASKED), "activity_start");
  done(flick_file_close(&between[0]), "close");
  while (flick_file_write(&to_fft[1], image, BLOCK) == BLOCK &&
         flick_activity_wait(fft, flick_time(), &(uint64_t){0}) < 0)
    ;
  wait_for(fft, "fft without a reader");
  // An accelerator waits for input, and its pipe is closed.
  good(flick_capability_revoke(ifft), "capability_revoke");
  ifft = activity("ifft");
  done(flick_files_pipe(&pipes, between), "pipe");
  done(flick_files_pipe(&pipes, from_ifft), "pipe");
  connect(ifft, &between[0], &from_ifft[1]);
  good(flick_activity_start(ifft, FLICK_INPUT_ASKED), "activity_start");
  flick_thread_sleep(flick_time() + flick_program.frequency / 1000);
  done(flick_file_close(&between[1]), "close");
  wait_for(ifft, "ifft without a writer");
  return 0;
}

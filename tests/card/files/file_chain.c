// A chain of three accelerators between two files of the file server. The program sets it up, and
// waits for its end: the accelerators ask the server themselves.
#include <errno.h>
#include <fcntl.h>
#include <flick/card.h>
#include <flick/files.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2048, BLOCKS = 600, IMAGE = BLOCKS * BLOCK };

static float image[IMAGE / 4], result[IMAGE / 4], filter[BLOCK / 4];

// A call that has to succeed.
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

static void connect(uint64_t of, uint64_t endpoint, uint64_t to) {
  good(flick_activity_endpoint(of, endpoint, to), "activity_endpoint");
}

// The next accelerator's gate and first block.
static void chain(uint64_t from, uint64_t to) {
  uint64_t gate = good(flick_activity_gate(to), "activity_gate");
  uint64_t memory = good(flick_activity_memory(to), "activity_memory");
  connect(from, FLICK_OUTPUT_REQUESTS, good(flick_gate_sender(gate, 0, 1), "gate_sender"));
  connect(from, FLICK_OUTPUT_DATA,
          good(flick_capability_narrow(memory, 0, BLOCK, FLICK_WRITE), "capability_narrow"));
}

static void wait_for(uint64_t of, const char *name) {
  uint64_t fault;
  uint64_t status = good(flick_activity_wait(of, FLICK_FOR_EVER, &fault), "activity_wait");
  printf("%s ends with status %lu, error %lu\n", name, (unsigned long)status, (unsigned long)fault);
}

int main(int argc, char **argv) {
  // Several of these programs have files of their own.
  const char *own = argc > 1 ? argv[1] : "";
  char source[40], sink[40], third[40];
  snprintf(source, sizeof source, "/image%s", own);
  snprintf(sink, sizeof sink, "/result%s", own);
  snprintf(third, sizeof third, "/other%s", own);
  struct flick_files files;
  struct flick_file in, out, other;
  for (uint64_t n = 0; n < IMAGE / 4; n++)
    image[n] = n * 31 % 255;
  // A filter of 2: so the chain doubles the image.
  for (uint64_t n = 0; n < BLOCK / 4; n += 2)
    filter[n] = 2;
  done(flick_files_connect(&files, "files", FLICK_FOR_EVER), "connect");
  done(flick_file_open(&files, &out, source, O_WRONLY | O_CREAT), "open");
  // Two pieces of the image have those of another file in between.
  done(flick_file_open(&files, &other, third, O_WRONLY | O_CREAT), "open");
  done(flick_file_write(&out, image, IMAGE / 2), "write");
  done(flick_file_commit(&out), "commit");
  done(flick_file_write(&other, image, 100), "write");
  done(flick_file_commit(&other), "commit");
  done(flick_file_write(&out, (char *)image + IMAGE / 2, IMAGE / 2), "write");
  done(flick_file_close(&out), "close");

  done(flick_file_open(&files, &in, source, O_RDONLY), "open");
  done(flick_file_open(&files, &out, sink, O_WRONLY | O_CREAT | O_TRUNC), "open");
  uint64_t fft = activity("fft"), mul = activity("mul"), ifft = activity("ifft");
  uint64_t into_mul = good(flick_activity_memory(mul), "activity_memory");
  good(flick_tile_store(into_mul, BLOCK, (uintptr_t)filter, BLOCK), "tile_store");
  connect(fft, FLICK_INPUT_REQUESTS, in.requests);
  connect(fft, FLICK_INPUT_DATA, in.data);
  chain(fft, mul);
  chain(mul, ifft);
  connect(ifft, FLICK_OUTPUT_REQUESTS, out.requests);
  connect(ifft, FLICK_OUTPUT_DATA, out.data);
  // A view has one endpoint.
  if (flick_activity_endpoint(mul, FLICK_INPUT_DATA, in.data) != -FLICK_EBUSY)
    printf("a second endpoint of a view\n");
  good(flick_activity_start(ifft, FLICK_INPUT_PUSHED), "activity_start");
  good(flick_activity_start(mul, FLICK_INPUT_PUSHED), "activity_start");
  good(flick_activity_start(fft, FLICK_INPUT_ASKED), "activity_start");
  wait_for(fft, "fft");
  wait_for(mul, "mul");
  wait_for(ifft, "ifft");
  done(flick_file_close(&in), "close");
  done(flick_file_close(&out), "close");

  done(flick_file_open(&files, &in, sink, O_RDONLY), "open");
  off_t size = flick_file_size(&in);
  ssize_t got = flick_file_read(&in, result, IMAGE);
  uint64_t wrong = 0;
  for (uint64_t n = 0; n < IMAGE / 4; n++) {
    float error = result[n] - 2 * image[n];
    wrong += !(error < 0.01f && error > -0.01f);
  }
  printf("size %ld, read %ld, points that are wrong: %lu\n", (long)size, (long)got,
         (unsigned long)wrong);

  // An accelerator whose file is closed has no endpoint any more.
  good(flick_capability_revoke(fft), "capability_revoke");
  fft = activity("fft");
  connect(fft, FLICK_INPUT_REQUESTS, in.requests);
  connect(fft, FLICK_INPUT_DATA, in.data);
  done(flick_file_close(&in), "close");
  good(flick_activity_start(fft, FLICK_INPUT_ASKED), "activity_start");
  wait_for(fft, "fft of a closed file");
  // One whose file is for reading alone cannot write to it.
  good(flick_capability_revoke(ifft), "capability_revoke");
  ifft = activity("ifft");
  done(flick_file_open(&files, &in, source, O_RDONLY), "open");
  done(flick_file_open(&files, &out, sink, O_RDONLY), "open");
  connect(ifft, FLICK_INPUT_REQUESTS, in.requests);
  connect(ifft, FLICK_INPUT_DATA, in.data);
  connect(ifft, FLICK_OUTPUT_REQUESTS, out.requests);
  connect(ifft, FLICK_OUTPUT_DATA, out.data);
  good(flick_activity_start(ifft, FLICK_INPUT_ASKED), "activity_start");
  wait_for(ifft, "ifft to a file for reading");
  return 0;
}

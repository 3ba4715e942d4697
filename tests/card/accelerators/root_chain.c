// A program of the root's tile: it makes a chain of three accelerators between two files in a tile
// of memory, and serves the files.
#include <errno.h>
#include <flick/card.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2048, IMAGE = 64 * BLOCK, PIECE = 16 * BLOCK, COPY = 64 << 10 };
enum { READS = 1, WRITES = 2 };

static float image[IMAGE / 4], result[IMAGE / 4], filter[BLOCK / 4];

// A call that has to succeed.
static uint64_t good(int64_t outcome, const char *what) {
  if (outcome < 0) {
    printf("%s fails: %s\n", what, strerror(flick_errno(outcome)));
    exit(1);
  }
  return (uint64_t)outcome;
}

static void fails(int64_t outcome, int64_t error, const char *what) {
  if (outcome != -error) {
    printf("%s: %ld in place of %ld\n", what, (long)outcome, (long)-error);
    exit(1);
  }
}

static uint64_t tile_of(const char *name) {
  uint64_t endpoints;
  int64_t tile = flick_tile_find((uint64_t)name, strlen(name), 0, &endpoints);
  return good(tile, name);
}

static void copy_in(uint64_t memory, const void *data, uint64_t size) {
  for (uint64_t at = 0; at < size; at += COPY) {
    uint64_t part = size - at < COPY ? size - at : COPY;
    good(flick_tile_store(memory, at, (uint64_t)data + at, part), "tile_store");
  }
}

static void copy_out(uint64_t memory, void *data, uint64_t size) {
  for (uint64_t at = 0; at < size; at += COPY) {
    uint64_t part = size - at < COPY ? size - at : COPY;
    good(flick_tile_load(memory, at, (uint64_t)data + at, part), "tile_load");
  }
}

static uint64_t requests;

// Serves one request for a piece of a file. False: the writer has ended.
static int serve(uint64_t gate) {
  static uint64_t read, written, granted;
  uint64_t request[15], label, answer[3] = {0, 0, 0};
  uint64_t taken =
      good(flick_gate_receive(gate, (uint64_t)request, FLICK_FOR_EVER, &label), "gate_receive");
  int goes_on = 1;
  requests++;
  if (taken >> 8 != 24) {
    printf("a request of %lu bytes\n", (unsigned long)(taken >> 8));
    exit(1);
  }
  if (label == READS && request[0] == FLICK_FILE_NEXT_IN) {
    answer[1] = read;
    answer[2] = IMAGE - read < PIECE ? IMAGE - read : PIECE;
    read += answer[2];
  } else if (label == WRITES && request[0] == FLICK_FILE_NEXT_OUT) {
    written += granted;
    answer[1] = written;
    answer[2] = granted = PIECE;
  } else if (label == WRITES && request[0] == FLICK_FILE_COMMIT) {
    written += request[1];
  } else if (label == WRITES && request[0] == FLICK_FILE_END) {
    goes_on = 0;
  } else {
    printf("unknown request %lu\n", (unsigned long)request[0]);
    exit(1);
  }
  good(flick_gate_answer(gate, taken & 0xff, (uint64_t)answer, sizeof answer), "gate_answer");
  return goes_on;
}

static uint64_t activity(const char *name) {
  return good(flick_activity_create(tile_of(name)), "activity_create");
}

static void connect(uint64_t of, uint64_t endpoint, uint64_t to) {
  good(flick_activity_endpoint(of, endpoint, to), "activity_endpoint");
}

static void wait_for(uint64_t of, const char *name) {
  uint64_t fault;
  uint64_t status = good(flick_activity_wait(of, FLICK_FOR_EVER, &fault), "activity_wait");
  printf("%s ends with status %lu, error %lu\n", name, (unsigned long)status, (unsigned long)fault);
}

int main(void) {
  for (uint64_t n = 0; n < IMAGE / 4; n++)
    image[n] = n * 31 % 255;
  // A filter of 2: so the chain doubles the image.
  for (uint64_t n = 0; n < BLOCK / 4; n += 2)
    filter[n] = 2;
  uint64_t dram = tile_of("");
  uint64_t from = good(flick_tile_memory(dram, IMAGE), "tile_memory");
  uint64_t to = good(flick_tile_memory(dram, IMAGE + PIECE), "tile_memory");
  copy_in(from, image, IMAGE);

  uint64_t gate = good(flick_gate_create(), "gate_create");
  uint64_t reads = good(flick_gate_sender(gate, READS, 1), "gate_sender");
  uint64_t writes = good(flick_gate_sender(gate, WRITES, 1), "gate_sender");
  uint64_t fft = activity("fft"), mul = activity("mul"), ifft = activity("ifft");
  // Another activity of the same accelerator waits for ever. It changes nothing for the others.
  uint64_t other = activity("mul");
  uint64_t into_mul = good(flick_activity_memory(mul), "activity_memory");
  good(flick_tile_store(into_mul, BLOCK, (uint64_t)filter, BLOCK), "tile_store");
  uint64_t into_ifft = good(flick_activity_memory(ifft), "activity_memory");
  uint64_t to_mul =
      good(flick_gate_sender(good(flick_activity_gate(mul), "activity_gate"), 0, 1), "gate_sender");
  uint64_t to_ifft = good(flick_gate_sender(good(flick_activity_gate(ifft), "activity_gate"), 0, 1),
                          "gate_sender");

  // Each part gets what it needs, and no more.
  uint64_t input = good(flick_capability_narrow(from, 0, IMAGE, FLICK_READ), "capability_narrow");
  fails(flick_capability_narrow(input, 0, IMAGE, FLICK_WRITE), FLICK_EPERM, "more rights");
  fails(flick_capability_narrow(input, 8, IMAGE, FLICK_READ), FLICK_EINVAL, "a larger range");
  fails(flick_tile_store(input, 0, (uint64_t)image, 8), FLICK_EPERM, "a store without the right");
  connect(fft, FLICK_INPUT_REQUESTS, reads);
  connect(fft, FLICK_INPUT_DATA, input);
  connect(fft, FLICK_OUTPUT_REQUESTS, to_mul);
  connect(fft, FLICK_OUTPUT_DATA,
          good(flick_capability_narrow(into_mul, 0, BLOCK, FLICK_WRITE), "capability_narrow"));
  connect(mul, FLICK_OUTPUT_REQUESTS, to_ifft);
  connect(mul, FLICK_OUTPUT_DATA,
          good(flick_capability_narrow(into_ifft, 0, BLOCK, FLICK_WRITE), "capability_narrow"));
  connect(ifft, FLICK_OUTPUT_REQUESTS, writes);
  connect(ifft, FLICK_OUTPUT_DATA,
          good(flick_capability_narrow(to, 0, IMAGE + PIECE, FLICK_WRITE), "capability_narrow"));
  fails(flick_activity_endpoint(fft, FLICK_INPUT_DATA, reads), FLICK_EINVAL, "a sender as memory");
  fails(flick_activity_endpoint(fft, 3, reads), FLICK_EINVAL, "an endpoint of the module");

  good(flick_activity_start(ifft, FLICK_INPUT_PUSHED), "activity_start");
  good(flick_activity_start(mul, FLICK_INPUT_PUSHED), "activity_start");
  good(flick_activity_start(fft, FLICK_INPUT_ASKED), "activity_start");
  fails(flick_activity_start(fft, FLICK_INPUT_ASKED), FLICK_EBUSY, "a second start");
  while (serve(gate))
    ;
  wait_for(fft, "fft");
  wait_for(mul, "mul");
  wait_for(ifft, "ifft");
  copy_out(to, result, IMAGE);
  uint64_t wrong = 0;
  for (uint64_t n = 0; n < IMAGE / 4; n++) {
    float error = result[n] - 2 * image[n];
    wrong += error > 0.01f || error < -0.01f;
  }
  printf("points that are wrong: %lu\nrequests to the server: %lu\n", (unsigned long)wrong,
         (unsigned long)requests);

  // What was derived goes, too, and the memory is free and empty again.
  good(flick_capability_revoke(from), "capability_revoke");
  fails(flick_tile_load(input, 0, (uint64_t)image, 8), FLICK_ENOENT, "a load of what is gone");
  fails(flick_capability_revoke(from), FLICK_ENOENT, "a second revocation");
  good(flick_capability_revoke(other), "capability_revoke");
  uint64_t again = good(flick_tile_memory(dram, IMAGE), "tile_memory");
  copy_out(again, result, IMAGE);
  for (uint64_t n = 0; n < IMAGE / 4; n++)
    wrong += result[n] != 0;
  printf("words of others: %lu\n", (unsigned long)wrong);
  good(flick_capability_revoke(fft), "capability_revoke");
  good(flick_capability_revoke(mul), "capability_revoke");
  fails(flick_activity_endpoint(ifft, FLICK_OUTPUT_REQUESTS, to_mul), FLICK_ENOENT,
        "a sender of what is gone");
  uint64_t second = activity("fft");
  good(flick_activity_start(second, FLICK_INPUT_ASKED), "activity_start");
  // It asks by an endpoint that nobody has set up.
  wait_for(second, "a second fft");

  // An activity goes while it waits for an answer. The next one finds nothing of it.
  good(flick_capability_revoke(second), "capability_revoke");
  uint64_t third = activity("fft");
  connect(third, FLICK_INPUT_REQUESTS, reads);
  connect(third, FLICK_INPUT_DATA, again);
  into_mul = good(flick_activity_memory(third), "activity_memory");
  good(flick_tile_store(into_mul, 0, (uint64_t)filter, BLOCK), "tile_store");
  good(flick_activity_start(third, FLICK_INPUT_ASKED), "activity_start");
  uint64_t request[15], label;
  int64_t taken = flick_gate_receive(gate, (uint64_t)request, FLICK_FOR_EVER, &label);
  good(taken, "gate_receive");
  good(flick_capability_revoke(third), "capability_revoke");
  uint64_t answer[3] = {0, 0, BLOCK};
  fails(flick_gate_answer(gate, taken & 0xff, (uint64_t)answer, sizeof answer), FLICK_EOWNERDEAD,
        "an answer to what is gone");
  into_mul = good(flick_activity_memory(activity("fft")), "activity_memory");
  copy_out(into_mul, result, BLOCK);
  for (uint64_t n = 0; n < BLOCK / 4; n++)
    wrong += result[n] != 0;
  printf("words of the last activity: %lu\n", (unsigned long)wrong);
  return 0;
}

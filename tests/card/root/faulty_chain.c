// A chain of accelerators under the root's kernel, on a machine with faults (docs/faults.md). It
// either makes the right result, or the program sees an error. No call takes long, another
// accelerator goes on, and everything can be given back.
#include <flick/card.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2048, IMAGE = 3 * BLOCK, PIECE = 2 * BLOCK };
enum { READS = 1, WRITES = 2 };
// SHA-256 of 4096 bytes of 0.
static const unsigned char digest[32] = {
    0xad, 0x7f, 0xac, 0xb2, 0x58, 0x6f, 0xc6, 0xe9, 0x66, 0xc0, 0x04, 0xd7, 0xd1, 0xd1, 0x6b, 0x02,
    0x4f, 0x58, 0x05, 0xff, 0x7c, 0xb4, 0x7c, 0x7a, 0x85, 0xda, 0xbd, 0x8b, 0x48, 0x89, 0x2c, 0xa7};

static float image[IMAGE / 4], result[IMAGE / 4], filter[BLOCK / 4];
static int errors;
static uint64_t longest, began;

static uint64_t after_ms(uint64_t ms) { return flick_time() + flick_program.frequency / 1000 * ms; }

static void begin(void) { began = flick_time(); }

// What a call that does not wait has answered. An error is one of the fault's, and the chain ends.
static int64_t done(int64_t outcome) {
  uint64_t time = flick_time() - began;
  longest = time > longest ? time : longest;
  errors += outcome < 0;
  return outcome;
}
#define DO(call) (begin(), done(call))

static int64_t tile_of(const char *name, uint64_t from) {
  uint64_t endpoints;
  return flick_tile_find((uint64_t)name, strlen(name), from, &endpoints);
}

// A file: a server's state for one reader or writer.
struct file {
  uint64_t size, at, granted;
};

// Serves one request. 0: the writer has ended, or nothing comes in time.
static int serve(uint64_t gate, struct file *reads, struct file *writes) {
  uint64_t request[15], label, answer[3] = {0, 0, 0};
  int64_t taken = flick_gate_receive(gate, (uint64_t)request, after_ms(5), &label);
  if (taken < 0)
    return errors++, 0;
  if (label == READS && request[0] == FLICK_FILE_NEXT_IN) {
    answer[1] = reads->at;
    answer[2] = reads->size - reads->at < PIECE ? reads->size - reads->at : PIECE;
    reads->at += answer[2];
  } else if (label == WRITES && request[0] == FLICK_FILE_NEXT_OUT) {
    answer[1] = writes->at += writes->granted;
    answer[2] = writes->granted = PIECE;
  } else if (label == WRITES && request[0] == FLICK_FILE_COMMIT) {
    writes->at += request[1];
  }
  int is_end = label == WRITES && request[0] == FLICK_FILE_END;
  DO(flick_gate_answer(gate, taken & 0xff, (uint64_t)answer, sizeof answer));
  return !is_end;
}

// Waits for the end of an activity. 1: it has ended without an error.
static int has_ended(int64_t activity) {
  uint64_t fault;
  return activity > 0 && flick_activity_wait(activity, after_ms(5), &fault) == FLICK_STATUS_ENDED;
}

static int64_t part(int64_t memory, uint64_t size, uint64_t rights) {
  return DO(flick_capability_narrow(memory, 0, size, rights));
}

static int64_t sender(int64_t gate, uint64_t label) {
  return DO(flick_gate_sender(gate, label, 1));
}

static void connect(int64_t of, uint64_t requests, int64_t to, int64_t memory) {
  DO(flick_activity_endpoint(of, requests, to));
  DO(flick_activity_endpoint(of, requests + 1, memory));
}

// The image becomes its double. 1: it does.
static int chain(uint64_t gate, uint64_t dram) {
  struct file reads = {.size = IMAGE}, writes = {.size = IMAGE};
  int64_t from = DO(flick_tile_memory(dram, IMAGE));
  int64_t to = DO(flick_tile_memory(dram, IMAGE + PIECE));
  DO(flick_tile_store(from, 0, (uint64_t)image, IMAGE));
  int64_t fft = DO(flick_activity_create(tile_of("fft", 0)));
  int64_t mul = DO(flick_activity_create(tile_of("mul", 0)));
  int64_t ifft = DO(flick_activity_create(tile_of("ifft", 0)));
  int64_t into_mul = DO(flick_activity_memory(mul)), into_ifft = DO(flick_activity_memory(ifft));
  DO(flick_tile_store(into_mul, BLOCK, (uint64_t)filter, BLOCK));
  connect(fft, FLICK_INPUT_REQUESTS, sender(gate, READS), part(from, IMAGE, FLICK_READ));
  connect(fft, FLICK_OUTPUT_REQUESTS, sender(DO(flick_activity_gate(mul)), 0),
          part(into_mul, BLOCK, FLICK_WRITE));
  connect(mul, FLICK_OUTPUT_REQUESTS, sender(DO(flick_activity_gate(ifft)), 0),
          part(into_ifft, BLOCK, FLICK_WRITE));
  connect(ifft, FLICK_OUTPUT_REQUESTS, sender(gate, WRITES), part(to, IMAGE + PIECE, FLICK_WRITE));
  DO(flick_activity_start(ifft, FLICK_INPUT_PUSHED));
  DO(flick_activity_start(mul, FLICK_INPUT_PUSHED));
  DO(flick_activity_start(fft, FLICK_INPUT_ASKED));
  while (errors == 0 && serve(gate, &reads, &writes))
    ;
  int have_ended = has_ended(fft) + has_ended(mul) + has_ended(ifft) == 3;
  DO(flick_tile_load(to, 0, (uint64_t)result, IMAGE));
  int is_right = have_ended && errors == 0;
  for (uint64_t n = 0; n < IMAGE / 4; n++) {
    float error = result[n] - 2 * image[n];
    if (is_right && (error > 0.01f || error < -0.01f)) {
      printf("wrong without an error\n");
      exit(1);
    }
  }
  // The capabilities of what has stopped are given back as others are.
  int64_t all[] = {fft, mul, ifft, from, to};
  for (int n = 0; n < 5; n++) {
    begin();
    if (all[n] > 0 && done(flick_capability_revoke(all[n])) != 0) {
      printf("a capability cannot be revoked\n");
      exit(1);
    }
  }
  return is_right;
}

// Another accelerator, with memory in another tile.
static int others_go_on(uint64_t gate, uint64_t sram) {
  unsigned char hash[32] = {0};
  struct file reads = {.size = 4096}, writes = {.size = 32};
  int64_t memory = flick_tile_memory(sram, 4096), to = flick_tile_memory(sram, 4096);
  int64_t sha = flick_activity_create(tile_of("sha256", 0));
  if (memory < 0 || to < 0 || sha < 0)
    return 0;
  errors = 0;
  connect(sha, FLICK_INPUT_REQUESTS, sender(gate, READS), part(memory, 4096, FLICK_READ));
  connect(sha, FLICK_OUTPUT_REQUESTS, sender(gate, WRITES), part(to, 4096, FLICK_WRITE));
  flick_activity_start(sha, FLICK_INPUT_ASKED);
  while (errors == 0 && serve(gate, &reads, &writes))
    ;
  return has_ended(sha) && flick_tile_load(to, 0, (uint64_t)hash, 32) == 0 &&
         memcmp(hash, digest, 32) == 0;
}

int main(void) {
  for (uint64_t n = 0; n < IMAGE / 4; n++)
    image[n] = n * 31 % 255;
  for (uint64_t n = 0; n < BLOCK / 4; n += 2)
    filter[n] = 2;
  int64_t dram = tile_of("", 0), sram = tile_of("", dram + 1);
  // Messages of the chain that are late come to a gate that nobody serves any more.
  int64_t gate = flick_gate_create(), other = flick_gate_create();
  printf("%s", chain(gate, dram) ? "right" : "error");
  flick_capability_revoke(gate);
  printf(", %s", others_go_on(other, sram) ? "others go on" : "OTHERS DO NOT GO ON");
  // An accelerator that has not stopped can be had again. One that has is an error, and no wait.
  const char *const names[] = {"fft", "mul", "ifft"};
  for (int n = 0; n < 3; n++) {
    uint64_t fault = 0;
    int64_t again = DO(flick_activity_create(tile_of(names[n], 0)));
    DO(flick_activity_start(again, FLICK_INPUT_PUSHED));
    int64_t status = flick_activity_wait(again, after_ms(20), &fault);
    int is_free = again > 0 && status == -FLICK_ETIMEDOUT;
    int is_dead = status == FLICK_STATUS_FAILED && fault == FLICK_EIO;
    printf(", %s %s", names[n], is_free ? "is free" : is_dead ? "is dead" : "IS LOST");
  }
  if (longest > flick_program.frequency / 1000 * 50)
    printf(", A CALL OF %lu us", (unsigned long)(longest * 1000000 / flick_program.frequency));
  printf("\n");
  return 0;
}

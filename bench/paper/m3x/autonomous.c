/* The image chain of M3x (ATC 2019, section 7.6), autonomous: accelerators read and write files,
 * and push their blocks to each other. This program sets the chains up, and is the server of the
 * files.
 *
 *   autonomous STEP BLOCKS BUFFERS REPETITIONS [shared]
 *
 * prints comma-separated values for 1 chain, and so many more, up to 4. Images have so many blocks,
 * and accelerators so many buffers. Chains have accelerators of their own, or share those of the
 * first one. */
#include "chains.h"

enum { PIECE = 512 << 10 }; /* most of what a server grants: M3's extents */
enum { READS, WRITES };

static struct chain chains[MOST_CHAINS];
static struct file {
  uint64_t read, written, granted;
} files[MOST_CHAINS];
static uint64_t size, buffers, is_shared;

static void start(struct chain *chain, uint64_t number, uint64_t gate) {
  uint64_t reads = good(flick_gate_sender(gate, number << 8 | READS, 1), "gate_sender");
  uint64_t writes = good(flick_gate_sender(gate, number << 8 | WRITES, 1), "gate_sender");
  make_activities(chain, is_shared ? 0 : (int)number, buffers);
  connect(chain->activities[FFT], FLICK_INPUT_REQUESTS, reads);
  connect(chain->activities[FFT], FLICK_INPUT_DATA, part(chain->input, size, FLICK_READ));
  for (int stage = FFT; stage < IFFT; stage++) {
    connect(chain->activities[stage], FLICK_OUTPUT_REQUESTS, sender_to(chain, stage + 1));
    connect(chain->activities[stage], FLICK_OUTPUT_DATA, blocks_of(chain, stage + 1, buffers));
  }
  connect(chain->activities[IFFT], FLICK_OUTPUT_REQUESTS, writes);
  connect(chain->activities[IFFT], FLICK_OUTPUT_DATA,
          part(chain->output, size + PIECE, FLICK_WRITE));
  files[number].read = files[number].written = files[number].granted = 0;
}

/* Serves one request for a piece of a file. True: a writer has ended. */
static int serve(uint64_t gate) {
  uint64_t request[WORDS], label, answer[3] = {0, 0, 0};
  uint64_t slot = receive(gate, request, &label);
  struct file *file = &files[label >> 8];
  int ends = 0;
  if ((label & 0xff) == READS && request[0] == FLICK_FILE_NEXT_IN) {
    answer[1] = file->read;
    answer[2] = size - file->read < PIECE ? size - file->read : PIECE;
    file->read += answer[2];
  } else if (request[0] == FLICK_FILE_NEXT_OUT) {
    file->written += file->granted;
    answer[1] = file->written;
    answer[2] = file->granted = PIECE;
  } else if (request[0] == FLICK_FILE_COMMIT) {
    file->written += request[1];
  } else if (request[0] == FLICK_FILE_END) {
    ends = 1;
  } else {
    printf("unknown request %lu\n", (unsigned long)request[0]);
    exit(1);
  }
  good(flick_gate_answer(gate, slot, (uint64_t)answer, sizeof answer), "gate_answer");
  return ends;
}

static void run(uint64_t count, uint64_t repetition) {
  uint64_t gate = good(flick_gate_create(), "gate_create");
  for (uint64_t n = 0; n < count; n++)
    start(&chains[n], n, gate);
  begin_to_measure();
  for (uint64_t n = 0; n < count; n++)
    for (int stage = IFFT; stage >= FFT; stage--)
      start_activity(chains[n].activities[stage],
                     stage == FFT ? FLICK_INPUT_ASKED : FLICK_INPUT_PUSHED);
  for (uint64_t ended = 0; ended < count;)
    ended += serve(gate);
  for (uint64_t n = 0; n < count; n++)
    wait_for(&chains[n]);
  print_measured(count, size / BLOCK, repetition);
  for (uint64_t n = 0; n < count; n++)
    end_chain(&chains[n], files[n].written, size);
  good(flick_capability_revoke(gate), "capability_revoke");
}

int main(int argc, char **argv) {
  if (argc != 5 && argc != 6)
    return 2;
  is_shared = argc == 6;
  uint64_t step = number(argv[1]), repetitions = number(argv[4]);
  size = number(argv[2]) * BLOCK;
  buffers = number(argv[3]);
  make_pattern();
  puts(HEADER);
  for (uint64_t n = 0; n < MOST_CHAINS; n++)
    make_files(&chains[n], size, size + PIECE);
  for (uint64_t count = 1; count <= MOST_CHAINS; count += step)
    for (uint64_t n = 0; n < repetitions; n++)
      run(count, n);
  return 0;
}

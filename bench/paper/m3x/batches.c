/* Accelerators of requests of M3x (ATC 2019, section 7.5): a program lets one make all its steps,
 * so many with each request, and waits for each answer. The arrays are in the memory of another
 * tile, and this program is the pager that maps them at their first use.
 *
 *   batches ACCELERATOR BATCH...
 *
 * prints comma-separated values for each number of steps with a request; 0 is all of them. Behind a
 * warm-up with a request for all, each run makes the same steps again. */
#include "calls.h"

enum { MOST_ARRAYS = 8, COPY = 64 << 10, PAGE = 4096 };
/* Endpoints of the accelerator, and words of a request (docs/accelerators.md). */
enum { PAGER = 10, PAGED = 11, KEEPS = 1 << 8, READ_WRITE = 3, BAD_ADDRESS = 14 };
enum { ANSWERS = 1, FAULTS };
#define MAPPED 0x40000000ul

/* What an accelerator computes, with the sizes of the paper. */
struct work {
  const char *name;
  uint64_t steps;
  int arrays;
  uint64_t sizes[MOST_ARRAYS];
  void (*fill)(char *data, const uint64_t *offsets);
};

static uint64_t state = 1;

/* Numbers below a limit that look random. */
static uint64_t any(uint64_t limit) {
  state = state * 6364136223846793005 + 1442695040888963407;
  return (state >> 33) % limit;
}

static void fill_stencil(char *data, const uint64_t *offsets) {
  int32_t *weights = (void *)data, *grid = (void *)(data + offsets[1]);
  weights[0] = 2;
  weights[1] = 1;
  for (int n = 0; n < 32 * 32 * 64; n++)
    grid[n] = (int32_t)any(1000);
}

static void fill_md(char *data, const uint64_t *offsets) {
  for (int axis = 0; axis < 3; axis++)
    for (int n = 0; n < 1024; n++)
      ((double *)(data + offsets[axis]))[n] = (double)any(1 << 20) / 1000;
  int32_t *neighbours = (void *)(data + offsets[3]);
  for (int n = 0; n < 1024 * 16; n++)
    neighbours[n] = (int32_t)((n / 16 + 1 + (int)any(1023)) % 1024);
}

enum { ROWS = 2048, ENTRIES = 39321 };

static void fill_spmv(char *data, const uint64_t *offsets) {
  double *values = (void *)data, *vector = (void *)(data + offsets[3]);
  int32_t *columns = (void *)(data + offsets[1]), *starts = (void *)(data + offsets[2]);
  for (int n = 0; n < ENTRIES; n++) {
    values[n] = (double)any(100);
    columns[n] = (int32_t)any(ROWS);
  }
  for (int row = 0; row <= ROWS; row++)
    starts[row] = (int32_t)((int64_t)ENTRIES * row / ROWS);
  for (int row = 0; row < ROWS; row++)
    vector[row] = (double)any(100);
}

static void fill_fft1d(char *data, const uint64_t *offsets) {
  (void)offsets;
  for (int n = 0; n < 2 * 16384; n++)
    ((double *)data)[n] = (double)any(1000);
}

static const struct work works[] = {
    {"stencil", 900, 3, {8, 4 * 32 * 32 * 64, 4 * 32 * 32 * 64}, fill_stencil},
    {"md", 1024, 7, {8192, 8192, 8192, 65536, 8192, 8192, 8192}, fill_md},
    {"spmv", ROWS, 5, {8 * ENTRIES, 4 * ENTRIES, 4 * (ROWS + 1), 8 * ROWS, 8 * ROWS}, fill_spmv},
    {"fft1d", 352, 3, {16 * 16384, 16 * 16384, 16 * 16384}, fill_fft1d},
};

static char data[1 << 20] __attribute__((aligned(PAGE)));
static uint64_t gate, sender, total, faults;
static uint64_t request[4 + 2 * MOST_ARRAYS];

static void set_up(const struct work *work) {
  uint64_t endpoints, offsets[MOST_ARRAYS];
  request[3] = (uint64_t)work->arrays;
  for (int n = 0; n < work->arrays; n++) {
    offsets[n] = total;
    request[4 + 2 * n] = MAPPED + total;
    request[5 + 2 * n] = work->sizes[n];
    total += (work->sizes[n] + PAGE - 1) / PAGE * PAGE;
  }
  work->fill(data, offsets);
  uint64_t dram = good(flick_tile_find(0, 0, 0, &endpoints), "tile_find");
  uint64_t memory = good(flick_tile_memory(dram, total), "tile_memory");
  for (uint64_t at = 0; at < total; at += COPY)
    good(flick_tile_store(memory, at, (uint64_t)data + at, total - at < COPY ? total - at : COPY),
         "tile_store");
  uint64_t tile =
      good(flick_tile_find((uint64_t)work->name, strlen(work->name), 0, &endpoints), "tile_find");
  uint64_t activity = good(flick_activity_create(tile), "activity_create");
  gate = good(flick_gate_create(), "gate_create");
  good(flick_activity_endpoint(activity, PAGER,
                               good(flick_gate_sender(gate, FAULTS, 1), "gate_sender")),
       "activity_endpoint");
  good(flick_activity_endpoint(activity, PAGED, memory), "activity_endpoint");
  sender = good(flick_gate_sender(good(flick_activity_gate(activity), "activity_gate"), 0, 1),
                "gate_sender");
  good(flick_activity_start(activity, FLICK_INPUT_ASKED), "activity_start");
}

/* One request, and its answer. */
static void invoke(uint64_t first, uint64_t steps, uint64_t flags, int arrays) {
  uint64_t message[15], label;
  request[0] = first;
  request[1] = steps;
  request[3] = (uint64_t)arrays | flags;
  good(flick_gate_send(sender, (uint64_t)request, 32 + 16 * (uint64_t)arrays, gate, ANSWERS),
       "gate_send");
  for (;;) {
    int64_t taken = flick_gate_receive(gate, (uint64_t)message, FLICK_FOR_EVER, &label);
    uint64_t slot = good(taken, "gate_receive") & 0xff;
    if (label == ANSWERS)
      break;
    uint64_t offset = message[0] - MAPPED, answer[3] = {0, READ_WRITE | PAGED << 16, offset};
    if (offset >= total)
      answer[0] = BAD_ADDRESS;
    good(flick_gate_answer(gate, slot, (uint64_t)answer, sizeof answer), "gate_answer");
    faults++;
  }
  if (message[0] || message[1] != steps) {
    printf("an answer with error %lu and %lu steps\n", (unsigned long)message[0],
           (unsigned long)message[1]);
    exit(1);
  }
}

static void run(const struct work *work, uint64_t batch) {
  uint64_t longest = 0, invocations = 0, before = cycles(), ticks = flick_time();
  faults = 0;
  for (uint64_t first = 0; first < work->steps; first += batch) {
    uint64_t steps = work->steps - first < batch ? work->steps - first : batch;
    uint64_t begin = cycles();
    invoke(first, steps, first ? KEEPS : 0, work->arrays);
    uint64_t took = cycles() - begin;
    longest = took > longest ? took : longest;
    invocations++;
  }
  printf("%s,%lu,%lu,%lu,%lu,%lu,%lu\n", work->name, (unsigned long)batch,
         (unsigned long)(flick_time() - ticks), (unsigned long)(cycles() - before),
         (unsigned long)invocations, (unsigned long)longest, (unsigned long)faults);
}

int main(int argc, char **argv) {
  const struct work *work = works;
  while (argc > 1 && work < works + 4 && strcmp(work->name, argv[1]) != 0)
    work++;
  if (argc < 3 || work == works + 4)
    return 2;
  set_up(work);
  invoke(0, work->steps, 0, work->arrays);
  puts("accelerator,batch,ticks,cycles,invocations,longest,faults");
  for (int n = 2; n < argc; n++) {
    uint64_t batch = strtoull(argv[n], 0, 10);
    run(work, batch && batch < work->steps ? batch : work->steps);
  }
  return 0;
}

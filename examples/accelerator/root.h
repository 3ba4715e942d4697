// The software of a root without a kernel, on the one hart of tile 0: it sets up the units of other
// tiles, and serves requests for files. docs/dtu.md and docs/accelerators.md have the numbers.
#include <flick_dtu.h>

// The root's endpoints. Those to the registers and the memory of a tile have its number behind
// them.
enum { SERVES = 2, REGISTERS = 10, MEMORIES = 20 };
// Numbers of `crates/abi/src/accelerator.rs` and `file_protocol.rs`.
enum { ANSWERS = 3, INPUT_REQUESTS, INPUT_DATA, OUTPUT_REQUESTS, OUTPUT_DATA, REQUESTS };
enum { CONTROL = 0x00, STATUS = 0x08, INPUT = 0x10, FAULT = 0x18, BLOCKS = 0x20 };
enum { START = 1, ENDED = 3, FAILED = 4, PUSHED = 1 };
enum { NEXT_IN = 2, NEXT_OUT, COMMIT, END = 6 };
// Activities: the root's, and that of the accelerators.
enum { ROOT = 1, ACTIVITY = 7 };
#define ANSWERS_BUFFER (1ul << 55)
#define REQUESTS_BUFFER (ANSWERS_BUFFER + 2 * 64)

typedef unsigned long u64;
static char slots[8][256] __attribute__((aligned(256)));

static inline volatile u64 *unit(u64 offset) { return (volatile u64 *)(0xf0000000 + offset); }

static inline void print(const char *text) {
  while (*text)
    *(volatile char *)0x10000000 = *text++;
}

static inline void number(u64 value) {
  char digits[24], *at = digits + 23;
  *at = 0;
  do
    *--at = '0' + value % 10;
  while (value /= 10);
  print(at);
}

// Ends the machine with a status.
static inline void end(int status) {
  *(volatile int *)0x100000 = status ? 0x3333 | status << 16 : 0x5555;
  for (;;)
    ;
}

static inline void stop(const char *why, u64 value) {
  print(why);
  number(value);
  print("\n");
  end(1);
}

static inline u64 execute(u64 word, const void *address, u64 size, u64 offset) {
  *unit(FLICK_DTU_ADDRESS) = (u64)address;
  *unit(FLICK_DTU_SIZE) = size;
  *unit(FLICK_DTU_OFFSET) = offset;
  *unit(FLICK_DTU_COMMAND) = word;
  while (*unit(FLICK_DTU_COMMAND))
    ;
  u64 outcome = *unit(FLICK_DTU_RESULT);
  if (outcome & 0xff)
    stop("command fails: ", outcome & 0xff);
  return outcome >> 8;
}

static inline u64 command(u64 number, u64 endpoint, u64 slot, const void *address, u64 size,
                          u64 offset) {
  return execute(FLICK_DTU_COMMAND_WORD(number, endpoint, 0xffff, slot), address, size, offset);
}

// Sends a message whose answer comes to another endpoint.
static inline void ask(u64 endpoint, u64 answers, const void *message, u64 size) {
  execute(FLICK_DTU_COMMAND_WORD(FLICK_DTU_SEND, endpoint, answers, 0), message, size, 0);
}

static inline void set_own(u64 endpoint, u64 first, u64 second, u64 third, u64 fourth) {
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 1)) = second;
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 2)) = third;
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 3)) = fourth;
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 0)) = first;
}

static inline void set(u64 tile, u64 endpoint, u64 kind, u64 second, u64 third, u64 fourth) {
  u64 words[4] = {kind | (u64)ACTIVITY << 16, second, third, fourth};
  command(FLICK_DTU_WRITE, REGISTERS + tile, 0, words, 32, FLICK_DTU_ENDPOINT_WORD(endpoint, 0));
}

static inline void set_register(u64 tile, u64 offset, u64 value) {
  command(FLICK_DTU_WRITE, REGISTERS + tile, 0, &value, 8, offset);
}

static inline void set_accelerator(u64 tile, u64 offset, u64 value) {
  set_register(tile, FLICK_DTU_ACCELERATOR_REGISTERS + offset, value);
}

static inline u64 accelerator(u64 tile, u64 offset) {
  u64 value = 0;
  command(FLICK_DTU_READ, REGISTERS + tile, 0, &value, 8, FLICK_DTU_ACCELERATOR_REGISTERS + offset);
  return value;
}

static inline void send_to(u64 tile, u64 endpoint, u64 to, u64 receiver, u64 activity) {
  set(tile, endpoint, 2, to | receiver << 16 | activity << 32, endpoint, 1 | 1 << 16 | 6ul << 32);
}

// Gives the root its endpoints: for requests, and to the tiles from 1 to `last`.
static inline void set_root_up(u64 last) {
  *unit(FLICK_DTU_CURRENT(0)) = ROOT;
  set_own(SERVES, 1 | ROOT << 16, (u64)slots, 8 | 8 << 8, 0);
  for (u64 tile = 1; tile <= last; tile++) {
    set_own(REGISTERS + tile, 4 | ROOT << 16, tile, 0, 0);
    set_own(MEMORIES + tile, 3 | 3 << 4 | ROOT << 16, tile, 0, 64 << 20);
  }
}

// Gives the module of an accelerator its endpoints for messages.
static inline void set_module_up(u64 tile) {
  set(tile, ANSWERS, 1, ANSWERS_BUFFER, 6 | 2 << 8, 0);
  set(tile, REQUESTS, 1, REQUESTS_BUFFER, 6 | 2 << 8, 0);
  set_register(tile, FLICK_DTU_CURRENT(0), ACTIVITY);
}

// It asks the root for input, which is in the memory of a tile; or for room for output.
static inline void read_from(u64 tile, u64 memory, u64 address, u64 size) {
  send_to(tile, INPUT_REQUESTS, 0, SERVES, ROOT);
  set(tile, INPUT_DATA, 3 | 1 << 4, memory, address, size);
}
static inline void write_to(u64 tile, u64 memory, u64 address, u64 size) {
  send_to(tile, OUTPUT_REQUESTS, 0, SERVES, ROOT);
  set(tile, OUTPUT_DATA, 3 | 2 << 4, memory, address, size);
}

// Two files of which modules get pieces: `input` bytes are to be read, and `output` can be written.
struct files {
  u64 input, output, piece;
  u64 read, written, granted, requests;
};

static inline u64 least(u64 a, u64 b) { return a < b ? a : b; }

// Serves one request for a piece of a file. 0: the writer has ended.
static inline int serve(struct files *files) {
  u64 at = command(FLICK_DTU_FETCH, SERVES, 0, 0, 0, 0);
  const struct flick_dtu_header *header = (const void *)at;
  const u64 *request = (const void *)(header + 1);
  u64 answer[3] = {0, 0, 0};
  int goes_on = 1;
  files->requests++;
  if (header->label == INPUT_REQUESTS && request[0] == NEXT_IN) {
    answer[1] = files->read;
    answer[2] = least(files->input - files->read, files->piece);
    files->read += answer[2];
  } else if (header->label == OUTPUT_REQUESTS && request[0] == NEXT_OUT) {
    files->written += files->granted;
    answer[1] = files->written;
    answer[2] = files->granted = least(files->output - files->written, files->piece);
  } else if (header->label == OUTPUT_REQUESTS && request[0] == COMMIT) {
    files->written += request[1];
  } else if (header->label == OUTPUT_REQUESTS && request[0] == END) {
    goes_on = 0;
  } else {
    stop("unknown request ", request[0]);
  }
  u64 slot = (at - (u64)slots) / sizeof *slots;
  command(FLICK_DTU_REPLY, SERVES, slot, answer, sizeof answer, 0);
  return goes_on;
}

// Waits for a request, or for some microseconds.
static inline int has_request(void) {
  if (!*unit(FLICK_DTU_EVENTS))
    command(FLICK_DTU_SLEEP, 0, 0, 0, 10000, 0);
  return *unit(FLICK_DTU_EVENTS) != 0;
}

static inline u64 cycles(void) {
  u64 value;
  __asm__ volatile("rdcycle %0" : "=r"(value));
  return value;
}

void root(void);

static char stack[8192] __attribute__((aligned(16)));

__attribute__((naked)) void _start(void) {
  __asm__("csrr t0, mhartid\n"
          "bnez t0, 1f\n"
          "li t0, 0x6000\n"
          "csrs mstatus, t0\n"
          "la sp, %0 + 8192\n"
          "call root\n"
          "1: wfi\n"
          "j 1b\n"
          :
          : "i"(stack));
}

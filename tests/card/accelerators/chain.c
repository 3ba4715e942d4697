// The software of a root without a kernel. It sets three accelerators up as a chain between two
// files in a tile of memory, serves their requests, and looks at what they have made of the image.
// BUFFERS is the number of blocks in the local memory of each accelerator.
#include "flick_dtu.h"
#ifndef BUFFERS
#define BUFFERS 1
#endif

enum { FFT = 1, MUL, IFFT, DRAM };
enum { BLOCK = 2048, IMAGE = 64 * BLOCK, PIECE = 16 * BLOCK, OUTPUT = 0x100000 };
// The root's endpoints. Those to the registers and the memory of a tile have its number behind
// them.
enum { SERVES = 2, REGISTERS = 10, MEMORIES = 20 };
// Numbers of `crates/abi/src/accelerator.rs` and `file_protocol.rs`.
enum { ANSWERS = 3, INPUT_REQUESTS, INPUT_DATA, OUTPUT_REQUESTS, OUTPUT_DATA, REQUESTS };
enum { CONTROL = 0x00, STATUS = 0x08, INPUT = 0x10, START = 1, ENDED = 3, PUSHED = 1 };
enum { NEXT_IN = 2, NEXT_OUT, COMMIT, END = 6 };
enum { ROOT = 1, ACTIVITY = 7 };
#define ANSWERS_BUFFER (1ul << 55)
#define REQUESTS_BUFFER (ANSWERS_BUFFER + 2 * 64)

typedef unsigned long u64;
static char slots[8][256] __attribute__((aligned(256)));
static float image[IMAGE / 4], result[IMAGE / 4], filter[BLOCK / 4];

static volatile u64 *unit(u64 offset) { return (volatile u64 *)(0xf0000000 + offset); }

static void print(const char *text) {
  while (*text)
    *(volatile char *)0x10000000 = *text++;
}

static void number(u64 value) {
  char digits[24], *at = digits + 23;
  *at = 0;
  do
    *--at = '0' + value % 10;
  while (value /= 10);
  print(at);
}

static void stop(const char *why, u64 value) {
  print(why);
  number(value);
  print("\n");
  *(volatile int *)0x100000 = 0x3333 | 1 << 16;
  for (;;)
    ;
}

static u64 command(u64 number, u64 endpoint, u64 slot, const void *address, u64 size, u64 offset) {
  *unit(FLICK_DTU_ADDRESS) = (u64)address;
  *unit(FLICK_DTU_SIZE) = size;
  *unit(FLICK_DTU_OFFSET) = offset;
  *unit(FLICK_DTU_COMMAND) = FLICK_DTU_COMMAND_WORD(number, endpoint, 0xffff, slot);
  while (*unit(FLICK_DTU_COMMAND))
    ;
  u64 outcome = *unit(FLICK_DTU_RESULT);
  if (outcome & 0xff)
    stop("command fails: ", outcome & 0xff);
  return outcome >> 8;
}

static void set_own(u64 endpoint, u64 first, u64 second, u64 third, u64 fourth) {
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 1)) = second;
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 2)) = third;
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 3)) = fourth;
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 0)) = first;
}

static void set(u64 tile, u64 endpoint, u64 kind, u64 second, u64 third, u64 fourth) {
  u64 words[4] = {kind | (u64)ACTIVITY << 16, second, third, fourth};
  command(FLICK_DTU_WRITE, REGISTERS + tile, 0, words, 32, FLICK_DTU_ENDPOINT_WORD(endpoint, 0));
}

static void set_register(u64 tile, u64 offset, u64 value) {
  command(FLICK_DTU_WRITE, REGISTERS + tile, 0, &value, 8, offset);
}

static u64 accelerator(u64 tile, u64 offset) {
  u64 value = 0;
  command(FLICK_DTU_READ, REGISTERS + tile, 0, &value, 8, FLICK_DTU_ACCELERATOR_REGISTERS + offset);
  return value;
}

static void send_to(u64 tile, u64 endpoint, u64 to, u64 receiver, u64 activity) {
  set(tile, endpoint, 2, to | receiver << 16 | activity << 32, endpoint, 1 | 1 << 16 | 6ul << 32);
}

static void set_tiles_up(void) {
  *unit(FLICK_DTU_CURRENT(0)) = ROOT;
  set_own(SERVES, 1 | ROOT << 16, (u64)slots, 8 | 8 << 8, 0);
  for (u64 tile = FFT; tile <= DRAM; tile++) {
    set_own(REGISTERS + tile, 4 | ROOT << 16, tile, 0, 0);
    set_own(MEMORIES + tile, 3 | 3 << 4 | ROOT << 16, tile, 0, 64 << 20);
  }
  for (u64 tile = FFT; tile <= IFFT; tile++) {
    set(tile, ANSWERS, 1, ANSWERS_BUFFER, 6 | 2 << 8, 0);
    set(tile, REQUESTS, 1, REQUESTS_BUFFER, 6 | 2 << 8, 0);
    set_register(tile, FLICK_DTU_CURRENT(0), ACTIVITY);
    if (tile == FFT) {
      send_to(tile, INPUT_REQUESTS, 0, SERVES, ROOT);
      set(tile, INPUT_DATA, 3 | 1 << 4, DRAM, 0, IMAGE);
    } else {
      set_register(tile, FLICK_DTU_ACCELERATOR_REGISTERS + INPUT, PUSHED);
    }
    if (tile == IFFT) {
      send_to(tile, OUTPUT_REQUESTS, 0, SERVES, ROOT);
      set(tile, OUTPUT_DATA, 3 | 2 << 4, DRAM, OUTPUT, IMAGE + PIECE);
    } else {
      send_to(tile, OUTPUT_REQUESTS, tile + 1, REQUESTS, ACTIVITY);
      set(tile, OUTPUT_DATA, 3 | 2 << 4, tile + 1, 0, BUFFERS * BLOCK);
    }
  }
}

static u64 requests;

// Serves one request for a piece of a file. False: the writer has ended.
static int serve(void) {
  static u64 read, written, granted;
  while (!*unit(FLICK_DTU_EVENTS))
    command(FLICK_DTU_SLEEP, 0, 0, 0, 100000, 0);
  u64 at = command(FLICK_DTU_FETCH, SERVES, 0, 0, 0, 0);
  const struct flick_dtu_header *header = (const void *)at;
  const u64 *request = (const void *)(header + 1);
  u64 answer[3] = {0, 0, 0};
  int goes_on = 1;
  requests++;
  if (header->label == INPUT_REQUESTS && request[0] == NEXT_IN) {
    answer[1] = read;
    answer[2] = IMAGE - read < PIECE ? IMAGE - read : PIECE;
    read += answer[2];
  } else if (header->label == OUTPUT_REQUESTS && request[0] == NEXT_OUT) {
    written += granted;
    answer[1] = written;
    answer[2] = granted = PIECE;
  } else if (header->label == OUTPUT_REQUESTS && request[0] == COMMIT) {
    written += request[1];
  } else if (header->label == OUTPUT_REQUESTS && request[0] == END) {
    goes_on = 0;
    if (written != IMAGE)
      stop("bytes that were written: ", written);
  } else {
    stop("unknown request ", request[0]);
  }
  u64 slot = (at - (u64)slots) / sizeof *slots;
  command(FLICK_DTU_REPLY, SERVES, slot, answer, sizeof answer, 0);
  return goes_on;
}

static u64 cycles(void) {
  u64 value;
  __asm__ volatile("rdcycle %0" : "=r"(value));
  return value;
}

void root(void) {
  for (u64 n = 0; n < IMAGE / 4; n++)
    image[n] = n * 31 % 255;
  // A filter of 2: so the chain doubles the image.
  for (u64 n = 0; n < BLOCK / 4; n += 2)
    filter[n] = 2;
  set_tiles_up();
  command(FLICK_DTU_WRITE, MEMORIES + DRAM, 0, image, IMAGE, 0);
  command(FLICK_DTU_WRITE, MEMORIES + MUL, 0, filter, BLOCK, BUFFERS * BLOCK);
  u64 began = cycles();
  for (u64 tile = FFT; tile <= IFFT; tile++)
    set_register(tile, FLICK_DTU_ACCELERATOR_REGISTERS + CONTROL, START);
  while (serve())
    ;
  u64 took = cycles() - began;
  for (u64 tile = FFT; tile <= IFFT; tile++)
    while (accelerator(tile, STATUS) != ENDED)
      ;
  command(FLICK_DTU_READ, MEMORIES + DRAM, 0, result, IMAGE, OUTPUT);
  u64 wrong = 0;
  for (u64 n = 0; n < IMAGE / 4; n++) {
    float error = result[n] - 2 * image[n];
    wrong += error > 0.01f || error < -0.01f;
  }
  print("points that are wrong: ");
  number(wrong);
  print("\nrequests to the server: ");
  number(requests);
  // The slowest stage takes 5856 cycles a block. Without transfers the image would take 66 of them,
  // since the last stage has its first block after two. Two buffers are held against the slowest
  // stage alone.
  if (BUFFERS == 1) {
    print("\nwithin 5 % of the slowest stage: ");
    number(took < 66ul * 5856 * 105 / 100);
  } else {
    print("\nwithin 3 % of the slowest stage alone: ");
    number(took < IMAGE / BLOCK * 5856ul * 103 / 100);
  }
  print("\n");
  *(volatile int *)0x100000 = 0x5555;
  for (;;)
    ;
}

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

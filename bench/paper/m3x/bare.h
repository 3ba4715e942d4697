/* What programs without a kernel share: the unit of their core, of which they are the root, and how
 * they begin, print and end. docs/dtu.md and docs/accelerators.md have the numbers. A program has
 * the function `bare_main`. */
#ifndef BARE_H
#define BARE_H

#include <flick_dtu.h>
#include <stdint.h>

/* The core's endpoints to registers and to memory of any tile, for one use after the other. */
enum { REGISTERS = 3, MEMORY };
/* Endpoints of an accelerator, and its registers. */
enum { ANSWERS = 3, OUTPUT_REQUESTS = 6, OUTPUT_DATA, REQUESTS };
enum { CONTROL = 0, STATUS = 8, INPUT = 16, START = 1, ENDED = 3, PUSHED = 1 };
enum { ROOT = 1, LOG2_SMALL = 6 };
enum { MESSAGE = 1, SEND = 2, REACH = 3, REACH_REGISTERS = 4, READS = 1 << 4, WRITES = 2 << 4 };
#define BUFFER (1ul << 55)

/* The activity of accelerators. */
static uint64_t activity = 7;

static inline volatile uint64_t *unit(uint64_t offset) {
  return (volatile uint64_t *)(0xf0000000 + offset);
}

static inline void print(const char *text) {
  while (*text)
    *(volatile char *)0x10000000 = *text++;
}

static inline void print_number(uint64_t value) {
  char digits[24], *at = digits + 23;
  *at = 0;
  do
    *--at = (char)('0' + value % 10);
  while (value /= 10);
  print(at);
}

_Noreturn static inline void end(uint32_t word) {
  *(volatile uint32_t *)0x100000 = word;
  for (;;)
    ;
}

_Noreturn static inline void fail(const char *what, uint64_t value) {
  print(what);
  print_number(value);
  print("\n");
  end(0x13333);
}

static inline uint64_t cycles(void) {
  uint64_t value;
  __asm__ volatile("rdcycle %0" : "=r"(value)::"memory");
  return value;
}

static inline uint64_t ticks(void) {
  uint64_t value;
  __asm__ volatile("rdtime %0" : "=r"(value)::"memory");
  return value;
}

/* Executes a command whose registers are set. Its error, and its value above. */
static inline uint64_t execute(uint64_t word) {
  *unit(FLICK_DTU_COMMAND) = word;
  while (*unit(FLICK_DTU_COMMAND))
    ;
  return *unit(FLICK_DTU_RESULT);
}

static inline uint64_t command(uint64_t word, const void *address, uint64_t bytes) {
  *unit(FLICK_DTU_ADDRESS) = (uint64_t)address;
  *unit(FLICK_DTU_SIZE) = bytes;
  uint64_t outcome = execute(word);
  if (outcome & 0xff)
    fail("a command fails: ", outcome & 0xff);
  return outcome >> 8;
}

static inline void copy(uint64_t number, uint64_t endpoint, const void *address, uint64_t bytes,
                        uint64_t offset) {
  *unit(FLICK_DTU_OFFSET) = offset;
  command(FLICK_DTU_COMMAND_WORD(number, endpoint, 0xffff, 0), address, bytes);
}

static inline void set_own(uint64_t endpoint, uint64_t kind, uint64_t second, uint64_t third,
                           uint64_t fourth) {
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 1)) = second;
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 2)) = third;
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 3)) = fourth;
  *unit(FLICK_DTU_ENDPOINT_WORD(endpoint, 0)) = kind | ROOT << 16;
}

static inline void write_register(uint64_t tile, uint64_t offset, const uint64_t *words,
                                  uint64_t count) {
  set_own(REGISTERS, REACH_REGISTERS, tile, 0, 0);
  copy(FLICK_DTU_WRITE, REGISTERS, words, 8 * count, offset);
}

static inline void set(uint64_t tile, uint64_t endpoint, uint64_t kind, uint64_t second,
                       uint64_t third, uint64_t fourth) {
  uint64_t words[4] = {kind | activity << 16, second, third, fourth};
  write_register(tile, FLICK_DTU_ENDPOINT_WORD(endpoint, 0), words, 4);
}

static inline void set_accelerator(uint64_t tile, uint64_t offset, uint64_t value) {
  write_register(tile, FLICK_DTU_ACCELERATOR_REGISTERS + offset, &value, 1);
}

static inline uint64_t status(uint64_t tile) {
  uint64_t value = 0;
  set_own(REGISTERS, REACH_REGISTERS, tile, 0, 0);
  copy(FLICK_DTU_READ, REGISTERS, &value, 8, FLICK_DTU_ACCELERATOR_REGISTERS + STATUS);
  return *(volatile uint64_t *)&value;
}

/* The endpoints of the module of a stream for messages. */
static inline void set_module(uint64_t tile) {
  set(tile, ANSWERS, MESSAGE, BUFFER, LOG2_SMALL | 2 << 8, 0);
  set(tile, REQUESTS, MESSAGE, BUFFER + (2 << LOG2_SMALL), LOG2_SMALL | 2 << 8, 0);
  write_register(tile, FLICK_DTU_CURRENT(0), &activity, 1);
}

/* The core sends to an endpoint of a tile, with a credit. */
static inline void set_sender(uint64_t endpoint, uint64_t tile, uint64_t receiver, uint64_t of,
                              uint64_t log2_message) {
  set_own(endpoint, SEND, tile | receiver << 16 | of << 32, 0, 1 | 1 << 16 | log2_message << 32);
}

void begin(void);
void bare_main(void);

static char stack[8192] __attribute__((aligned(16), used));

__attribute__((naked)) void begin(void) {
  __asm__("csrr t0, mhartid\n"
          "bnez t0, 1f\n"
          "li t0, 0x6000\n"
          "csrs mstatus, t0\n"
          "la sp, stack + 8192\n"
          "call bare_main\n"
          "1: wfi\n"
          "j 1b\n");
}

#endif

/* An interpreter of byte code: a stack machine that counts primes with a sieve. */
#include "kernel.h"

enum { PUSH, LOAD, STORE, GET, SET, ADD, LESS, JUMP, JUMP_UNLESS, HALT };
enum { I, J, COUNT, LOCALS };
enum { LIMIT = 4096 };

typedef struct {
  uint16_t operation, operand;
} instruction;

static const instruction program[] = {
    /*  0 */ {PUSH, 2},         {STORE, I},    /* i = 2 */
    /*  2 */ {LOAD, I},         {PUSH, LIMIT}, /* while (i < LIMIT) { */
    /*  4 */ {LESS, 0},         {JUMP_UNLESS, 33},
    /*  6 */ {LOAD, I},         {GET, 0}, /*   if (!sieve[i]) { */
    /*  8 */ {PUSH, 1},         {LESS, 0},
    /* 10 */ {JUMP_UNLESS, 28},
    /* 11 */ {LOAD, COUNT},     {PUSH, 1}, /*     count = count + 1 */
    /* 13 */ {ADD, 0},          {STORE, COUNT},
    /* 15 */ {LOAD, I},         {STORE, J},    /*     j = i */
    /* 17 */ {LOAD, J},         {PUSH, LIMIT}, /*     while (j < LIMIT) { */
    /* 19 */ {LESS, 0},         {JUMP_UNLESS, 28},
    /* 21 */ {LOAD, J},         {SET, 1},  /*       sieve[j] = 1 */
    /* 23 */ {LOAD, J},         {LOAD, I}, /*       j = j + i } } */
    /* 25 */ {ADD, 0},          {STORE, J},
    /* 27 */ {JUMP, 17},
    /* 28 */ {LOAD, I},         {PUSH, 1}, /*   i = i + 1 } */
    /* 30 */ {ADD, 0},          {STORE, I},
    /* 32 */ {JUMP, 2},
    /* 33 */ {HALT, 0},
};

static unsigned char sieve[LIMIT];

static uint64_t run(void) {
  uint64_t locals[LOCALS] = {0}, stack[8], *top = stack;
  for (size_t i = 0; i < LIMIT; i++)
    sieve[i] = 0;
  for (const instruction *at = program;; at++) {
    switch (at->operation) {
    case PUSH:
      *top++ = at->operand;
      break;
    case LOAD:
      *top++ = locals[at->operand];
      break;
    case STORE:
      locals[at->operand] = *--top;
      break;
    case GET:
      top[-1] = sieve[top[-1]];
      break;
    case SET:
      sieve[*--top] = (unsigned char)at->operand;
      break;
    case ADD:
      top--;
      top[-1] += top[0];
      break;
    case LESS:
      top--;
      top[-1] = top[-1] < top[0];
      break;
    case JUMP:
      at = program + at->operand - 1;
      break;
    case JUMP_UNLESS:
      if (!*--top)
        at = program + at->operand - 1;
      break;
    case HALT:
      return locals[COUNT];
    }
  }
}

uint64_t bytecode(uint64_t work) {
  uint64_t checksum = 0;
  for (uint64_t i = 0; i < work; i++)
    checksum = fold(checksum, run());
  return checksum;
}

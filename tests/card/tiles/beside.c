// A program beside a hostile kernel of another tile: its memory, its gate and its accelerator's
// memory stay as they are, new memory is 0, and calls have answers. `beside MS NAME` goes on for so
// many milliseconds.
#include <flick/card.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 512, LABEL = 77, SECRET = 0x5ec4e7 };

static int wrong;

static void expect(int64_t outcome, int64_t wanted, const char *what) {
  if (outcome == wanted)
    return;
  printf("%s: %ld in place of %ld\n", what, (long)outcome, (long)wanted);
  wrong++;
}

static int64_t good(int64_t outcome, const char *what) {
  if (outcome < 0) {
    printf("%s fails: %ld\n", what, (long)-outcome);
    exit(1);
  }
  return outcome;
}

int main(int argc, char **argv) {
  static uint64_t words[WORDS], back[WORDS];
  uint64_t endpoints, message[15] = {0}, label, rounds = 0;
  uint64_t until = flick_time() + atol(argv[1]) * flick_program.frequency / 1000;
  int64_t dram = good(flick_tile_find(0, 0, 0, &endpoints), "tile_find");
  int64_t hostile = good(flick_tile_find((uint64_t)"core0", 5, 0, &endpoints), "tile_find");
  int64_t own = good(flick_tile_memory(dram, sizeof words), "tile_memory");
  int64_t gate = good(flick_gate_create(), "gate_create");
  int64_t sender = good(flick_gate_sender(gate, LABEL, 1), "gate_sender");
  for (int n = 0; n < WORDS; n++)
    words[n] = SECRET * (n + 1);
  expect(flick_tile_store(own, 0, (uint64_t)words, sizeof words), 0, "tile_store");
  while (flick_time() < until) {
    expect(flick_tile_load(own, 0, (uint64_t)back, sizeof back), 0, "tile_load");
    for (int n = 0; n < WORDS; n++)
      expect(back[n], words[n], "a word of its memory");
    // Others may have it all, or take some now.
    int64_t fresh = flick_tile_memory(dram, 4096);
    if (fresh >= 0) {
      expect(flick_tile_load(fresh, 0, (uint64_t)back, 4096), 0, "a load of new memory");
      for (int n = 0; n < WORDS; n++)
        expect(back[n], 0, "a word of new memory");
      expect(flick_tile_store(fresh, 0, (uint64_t)words, 4096), 0, "a store to new memory");
      expect(flick_tile_load(fresh, 0, (uint64_t)back, 4096), 0, "a load of own memory");
      for (int n = 0; n < WORDS; n++)
        expect(back[n], words[n], "a word of own memory");
      expect(flick_capability_revoke(fresh), 0, "capability_revoke");
    }
    message[0] = rounds;
    expect(flick_gate_send(sender, (uint64_t)message, 8, gate, LABEL + 1), 0, "gate_send");
    int64_t got = flick_gate_receive(gate, (uint64_t)message, FLICK_FOR_EVER, &label);
    expect(got >> 8, 8, "the size of a message");
    expect(label, LABEL, "its label");
    expect(message[0], rounds, "its word");
    expect(flick_gate_answer(gate, got & 0xff, (uint64_t)message, 8), 0, "gate_answer");
    expect(flick_gate_receive(gate, (uint64_t)message, FLICK_FOR_EVER, &label), 0xff | 8 << 8,
           "an answer");
    expect(label, LABEL + 1, "its label");
    // A program of the hostile tile, which says of it what it likes. It is given something.
    if (rounds % 16 == 0) {
      int64_t program = flick_activity_create(hostile);
      if (program >= 0) {
        flick_activity_give(program, sender);
        flick_activity_start(program, own);
        flick_activity_wait(program, flick_time() + 100, &label);
        expect(flick_capability_revoke(program), 0, "a program of a hostile tile goes");
      }
    }
    if (wrong > 20)
      break;
    rounds++;
  }
  printf("%s: checks that fail: %d\n", argc > 2 ? argv[2] : "", wrong + (rounds < 100));
  return wrong != 0;
}

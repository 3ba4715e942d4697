// Root calls of a program of a tile that the root governs: memory, gates and messages, and errors
// of wrong arguments, which are those of the root's tile.
#include <flick/card.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64 << 10, LABEL = 77, ENDPOINTS = 80 };

static int wrong;

static void expect(int64_t outcome, int64_t wanted, const char *what) {
  if (outcome == wanted)
    return;
  printf("%s: %ld in place of %ld\n", what, (long)outcome, (long)wanted);
  wrong++;
}

static uint64_t soon(void) { return flick_time() + flick_program.frequency / 1000; }

static uint64_t message[32], label, second;
static char data[MOST + 8], back[MOST + 8];

static void memory(int64_t dram) {
  int64_t all = flick_tile_memory(dram, 3 << 20), part = flick_capability_narrow(all, 100, 64, 1);
  for (int n = 0; n < MOST; n++)
    data[n] = n * 7 + n / 256;
  expect(flick_tile_load(all, (3 << 20) - 8, (uint64_t)back, 8), 0, "the last word");
  expect(back[0], 0, "new memory");
  // At any address, over several pages.
  expect(flick_tile_store(all, 99, (uint64_t)data + 1, MOST - 1), 0, "a store");
  expect(flick_tile_load(all, 99, (uint64_t)back + 3, MOST - 1), 0, "a load");
  expect(memcmp(data + 1, back + 3, MOST - 1), 0, "what was stored");
  expect(flick_tile_load(all, (3 << 20) - 5, (uint64_t)back, 6), -FLICK_EINVAL, "a load beyond");
  expect(flick_tile_load(all, 0, (uint64_t)back, MOST + 1), -FLICK_EINVAL, "too many bytes");
  expect(flick_tile_load(all, 0, 8, 8), -FLICK_EFAULT, "a load to nowhere");
  expect(flick_tile_load(all, 0, (uint64_t)back, 0), 0, "no bytes");
  expect(flick_tile_load(part, 0, (uint64_t)back, 64), 0, "a load of a part");
  expect(memcmp(data + 2, back, 64), 0, "what is in the part");
  expect(flick_tile_store(part, 0, (uint64_t)back, 8), -FLICK_EPERM, "a store without the right");
  expect(flick_capability_narrow(part, 0, 65, 1), -FLICK_EINVAL, "a part beyond");
  expect(flick_capability_revoke(all), 0, "capability_revoke");
  expect(flick_tile_load(part, 0, (uint64_t)back, 8), -FLICK_ENOENT, "a load of what is gone");
  expect(flick_tile_load(all, 0, (uint64_t)back, 8), -FLICK_ENOENT, "the same");
  // More than the tile has endpoints, one after the other.
  int64_t many[ENDPOINTS];
  for (int n = 0; n < ENDPOINTS; n++) {
    many[n] = flick_tile_memory(dram, 8);
    uint64_t word = n;
    expect(flick_tile_store(many[n], 0, (uint64_t)&word, 8), 0, "a store to one of many");
  }
  for (int round = 0; round < 3; round++)
    for (int n = 0; n < ENDPOINTS; n++) {
      uint64_t word = 0;
      expect(flick_tile_load(many[n], 0, (uint64_t)&word, 8), 0, "a load of one of many");
      expect(word, n, "its word");
    }
  for (int n = 0; n < ENDPOINTS; n++)
    expect(flick_capability_revoke(many[n]), 0, "capability_revoke");
}

static void take(int64_t gate, int64_t slot, uint64_t of, uint64_t word, const char *what) {
  memset(message, 0, sizeof message);
  int64_t got = flick_gate_receive(gate, (uint64_t)message, soon(), &label);
  expect(got & 0xff, slot, what);
  expect(label, of, "its label");
  expect(message[0], word, "its word");
}

static void gates(void) {
  int64_t gate = flick_gate_create(), sender = flick_gate_sender(gate, LABEL, 2);
  for (uint64_t n = 0; n < 40; n++) {
    message[0] = n;
    expect(flick_gate_send(sender, (uint64_t)message, 24, gate, n), 0, "gate_send");
    take(gate, 0, LABEL, n, "a message");
    message[0] = n + 1;
    expect(flick_gate_answer(gate, 0, (uint64_t)message, 8), 0, "gate_answer");
    take(gate, FLICK_NO_SLOT, n, n + 1, "an answer");
  }
  expect(flick_gate_receive(gate, (uint64_t)message, soon(), &label), -FLICK_ETIMEDOUT,
         "no message");
  for (int n = 0; n < 2; n++)
    expect(flick_gate_send(sender, (uint64_t)message, 8, gate, 0), 0, "a credit");
  expect(flick_gate_send(sender, (uint64_t)message, 8, gate, 0), -FLICK_EAGAIN, "no credit");
  expect(flick_gate_answer(gate, 3, (uint64_t)message, 8), -FLICK_EINVAL, "an empty slot");
  expect(flick_gate_answer(gate, 300, (uint64_t)message, 8), -FLICK_EINVAL, "no slot");
  expect(flick_gate_send(sender, (uint64_t)message, 168, gate, 0), -FLICK_EINVAL, "too long");
  expect(flick_gate_send(gate, (uint64_t)message, 8, gate, 0), -FLICK_EINVAL, "no sender");
  expect(flick_gate_send(sender, 8, 8, gate, 0), -FLICK_EFAULT, "a message at no address");
  expect(flick_gate_receive(gate, 8, 0, &label), -FLICK_EFAULT, "a buffer at no address");
  expect(flick_gate_receive(sender, (uint64_t)message, 0, &label), -FLICK_EINVAL, "no gate");
  expect(flick_gate_receive(12345, (uint64_t)message, 0, &label), -FLICK_ENOENT, "nothing");
  expect(flick_gate_call(sender, 8, 8, (uint64_t)message, 0), -FLICK_EFAULT, "a call of nothing");
  expect(flick_gate_call(sender, (uint64_t)message, 128, (uint64_t)message, 0), -FLICK_EINVAL,
         "a call that is too long");
  expect(flick_gate_call(sender, (uint64_t)message, 8, 8, 0), -FLICK_EFAULT,
         "an answer to nowhere");
  expect(flick_capability_revoke(gate), 0, "capability_revoke");
  expect(flick_gate_send(sender, (uint64_t)message, 8, gate, 0), -FLICK_ENOENT,
         "a sender of nothing");
  expect(flick_gate_receive(gate, (uint64_t)message, 0, &label), -FLICK_ENOENT,
         "a gate that is gone");
  // As many as there can be, again and again.
  for (int round = 0; round < 3; round++) {
    int64_t all[64];
    int count = 0;
    while (count < 64 && (all[count] = flick_gate_create()) >= 0)
      count++;
    expect(count, 32, "gates");
    expect(all[count], -FLICK_ENOMEM, "a gate too many");
    while (count)
      flick_capability_revoke(all[--count]);
  }
}

int main(void) {
  int64_t dram = flick_tile_find(0, 0, 0, &second);
  expect(flick_program.tile, 1, "the tile");
  expect(flick_tile_find((uint64_t)"x", 1, 0, &second), -FLICK_ENOENT, "no such tile");
  expect(flick_tile_find((uint64_t)"x", 33, 0, &second), -FLICK_EINVAL, "a long name");
  expect(flick_tile_find((uint64_t)"x", 1ul << 40, 0, &second), -FLICK_EINVAL, "a longer name");
  expect(flick_tile_find(8, 3, 0, &second), -FLICK_EFAULT, "a name at no address");
  expect(flick_session_open((uint64_t)"none", 4, 0, 0), -FLICK_ENOENT, "no such service");
  memory(dram);
  expect(flick_capability_give(flick_tile_memory(dram, 8), 1), -FLICK_ENOENT,
         "a gift for a stranger");
  gates();
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}

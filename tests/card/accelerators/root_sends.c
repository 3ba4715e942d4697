// What harts of programs do by their own bank of the root's unit: messages that are sent without a
// wait, their answers, and copies; rights that go meanwhile, and memory at the ends of pages.
#include <flick/card.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, ANSWER = 255, ROUNDS = 200 };

static int wrong;

static void expect(int64_t outcome, int64_t wanted, const char *what) {
  if (outcome == wanted)
    return;
  printf("%s: %ld in place of %ld\n", what, (long)outcome, (long)wanted);
  wrong++;
}

static char pages[2 * PAGE] __attribute__((aligned(PAGE)));

static uint64_t soon(void) { return flick_time() + flick_program.frequency / 1000; }

static int64_t send(uint64_t sender, uint64_t word, uint64_t gate, uint64_t label) {
  uint64_t message[2] = {word, ~word};
  return flick_gate_send(sender, (uint64_t)message, sizeof message, gate, label);
}

// Takes a message of 16 bytes. Its slot; its label and first word in `seen`.
static int64_t take(uint64_t gate, uint64_t seen[2]) {
  uint64_t message[15] = {0};
  int64_t taken = flick_gate_receive(gate, (uint64_t)message, soon(), &seen[0]);
  seen[1] = message[0];
  return taken < 0 ? taken : taken & 0xff;
}

static int64_t answer(uint64_t gate, uint64_t slot, uint64_t word) {
  uint64_t words[2] = {word, 0};
  return flick_gate_answer(gate, slot, (uint64_t)words, sizeof words);
}

static void sends(void) {
  uint64_t seen[2], server = flick_gate_create(), own = flick_gate_create();
  uint64_t one = flick_gate_sender(server, 11, 1), two = flick_gate_sender(server, 12, 2);
  expect(send(one, 5, own, 100), 0, "a message");
  expect(send(one, 6, own, 101), -FLICK_EAGAIN, "a message without a credit");
  expect(send(two, 7, own, 102), 0, "a message of another sender");
  expect(send(two, 8, own, 103), 0, "its second one");
  expect(send(two, 9, own, 104), -FLICK_EAGAIN, "its third one");
  int64_t slots[3];
  for (uint64_t n = 0; n < 3; n++) {
    static const uint64_t labels[3] = {11, 12, 12}, words[3] = {5, 7, 8};
    slots[n] = take(server, seen);
    expect(slots[n] >= 0 && slots[n] < 16, 1, "a slot");
    expect(seen[0], labels[n], "a label");
    expect(seen[1], words[n], "a word");
  }
  // Answers come in any order, and have slot 255.
  for (int n = 2; n >= 0; n--)
    expect(answer(server, slots[n], 50 + n), 0, "an answer");
  for (int n = 2; n >= 0; n--) {
    static const uint64_t labels[3] = {100, 102, 103};
    expect(take(own, seen), ANSWER, "the slot of an answer");
    expect(seen[0], labels[n], "the label of an answer");
    expect(seen[1], 50 + n, "the word of an answer");
  }
  expect(take(own, seen), -FLICK_ETIMEDOUT, "no answer more");
  expect(send(one, 6, own, 105), 0, "a message with the credit");
  slots[0] = take(server, seen);

  // A sender's answers come to one gate as long as that is there.
  uint64_t other = flick_gate_create();
  expect(send(one, 6, other, 1), -FLICK_EBUSY, "answers to another gate");
  expect(flick_capability_revoke(own), 0, "the end of the gate");
  expect(answer(server, slots[0], 1), -FLICK_EOWNERDEAD, "an answer to a gate that is gone");
  // It may have the endpoint of the one that is gone.
  uint64_t next = flick_gate_create();
  expect(take(next, seen), -FLICK_ETIMEDOUT, "answers for another gate");
  expect(take(other, seen), -FLICK_ETIMEDOUT, "answers for a third one");
  expect(send(one, 6, other, 106), 0, "answers to another gate, then");
  slots[0] = take(server, seen);
  expect(answer(server, slots[0], 60), 0, "its answer");
  expect(take(other, seen), ANSWER, "it comes");

  // What is wrong.
  uint64_t message[20] = {0};
  const uint64_t at = (uint64_t)message;
  expect(flick_gate_send(one, at, 24, server + 77, 0), -FLICK_ENOENT, "no such gate");
  expect(flick_gate_send(one + 77, at, 24, other, 0), -FLICK_ENOENT, "no such sender");
  expect(flick_gate_send(other, at, 24, other, 0), -FLICK_EINVAL, "a gate in place of a sender");
  expect(flick_gate_send(one, at, 24, two, 0), -FLICK_EINVAL, "a sender in place of a gate");
  expect(flick_gate_send(one, at, 12, other, 0), -FLICK_EINVAL, "half a word");
  expect(flick_gate_send(one, at, 168, other, 0), -FLICK_EINVAL, "a long message");
  expect(flick_gate_send(one, at + 4, 24, other, 0), -FLICK_EFAULT, "an address between words");
  expect(flick_gate_send(one, 64, 24, other, 0), -FLICK_EFAULT, "a bad pointer");
  expect(flick_gate_send(one, (uint64_t)pages + PAGE - 8, 24, other, 1), 0, "words of two pages");
  expect(take(server, seen) >= 0, 1, "they arrive");
  expect(answer(server, 99, 0), -FLICK_EINVAL, "a slot that is not");
  expect(flick_gate_receive(other, (uint64_t)pages + PAGE - 8, 0, seen), -FLICK_ETIMEDOUT,
         "a buffer in two pages");
  expect(flick_gate_receive(other, 64, 0, seen), -FLICK_EFAULT, "a bad buffer");

  // Endpoints come back with senders.
  for (int n = 0; n < ROUNDS; n++) {
    uint64_t sender = flick_gate_sender(server, 1, 1);
    int64_t sent = send(sender, 1, other, 1);
    int64_t slot = sent ? sent : take(server, seen);
    if (sent || slot < 0 || answer(server, slot, 0) || take(other, seen) != ANSWER ||
        flick_capability_revoke(sender))
      expect(n, ROUNDS, "senders one after the other");
  }
  for (uint64_t gate = 0; gate < 4; gate++)
    flick_capability_revoke((uint64_t[]){server, other, next, own}[gate]);
}

static void copies(uint64_t dram) {
  uint64_t memory = flick_tile_memory(dram, 128 << 10);
  static char data[64 << 10], back[64 << 10];
  for (unsigned n = 0; n < sizeof data; n++)
    data[n] = (char)(n * 7 + n / 256);
  static const uint64_t sizes[] = {1, 8, 100, PAGE, PAGE + 1, 3 * PAGE - 5, 8192, 8193, 65536};
  for (unsigned n = 0; n < sizeof sizes / 8; n++) {
    uint64_t size = sizes[n], from = size < 60000 ? 13 * n : 0;
    memset(back, 0, sizeof back);
    expect(flick_tile_store(memory, 3 * n, (uint64_t)data + from, size), 0, "a copy");
    expect(flick_tile_load(memory, 3 * n, (uint64_t)back + from, size), 0, "a copy back");
    expect(memcmp(data + from, back + from, size), 0, "what was copied");
    expect(from + size < sizeof back ? back[from + size] : 0, 0, "what is behind it");
  }
  expect(flick_tile_store(memory, 0, 0, 0), 0, "nothing");
  expect(flick_tile_load(memory, 0, 64, 8), -FLICK_EFAULT, "a bad pointer of a copy");
  expect(flick_tile_load(memory, 0, (uint64_t)data, 65537), -FLICK_EINVAL, "a long copy");
  expect(flick_tile_load(memory, (128 << 10) - 7, (uint64_t)data, 8), -FLICK_EINVAL, "its end");
  expect(flick_tile_load(memory, -8ul, (uint64_t)data, 16), -FLICK_EINVAL, "beyond all addresses");
  uint64_t part = flick_capability_narrow(memory, PAGE, PAGE, FLICK_READ);
  expect(flick_tile_store(part, 0, (uint64_t)data, 8), -FLICK_EPERM, "a copy without the right");
  expect(flick_tile_load(part, PAGE - 8, (uint64_t)back, 16), -FLICK_EINVAL, "beyond a part");
  expect(flick_tile_load(part, 0, (uint64_t)back, 8), 0, "a copy of a part");
  expect(flick_capability_revoke(memory), 0, "the end of memory");
  expect(flick_tile_load(part, 0, (uint64_t)back, 8), -FLICK_ENOENT, "memory that is gone");
}

// Stores to memory as long as the right is there.
static _Atomic uint64_t target;
static _Atomic int is_over;

static void *store(void *unused) {
  (void)unused;
  for (uint64_t n = 1; !is_over; n++) {
    int64_t outcome = flick_tile_store(target, 0, (uint64_t)&n, 8);
    if (outcome && outcome != -FLICK_ENOENT)
      return (void *)outcome;
  }
  return NULL;
}

// Behind a revocation nothing is stored any more, whatever another hart does.
static void revocations(uint64_t dram) {
  uint64_t memory = flick_tile_memory(dram, PAGE);
  pthread_t thread;
  pthread_create(&thread, NULL, store, NULL);
  uint64_t before = 0, stored = 0, now[2] = {0};
  for (int n = 0; n < ROUNDS; n++) {
    uint64_t right = flick_capability_narrow(memory, 0, PAGE, FLICK_READ | FLICK_WRITE);
    target = right;
    // The other hart asks for the right at its first store.
    for (int look = 0; look < 1000 && now[0] == before; look++)
      flick_tile_load(memory, 0, (uint64_t)&now[0], 8);
    stored += now[0] != before;
    expect(flick_capability_revoke(right), 0, "the end of a right");
    for (int look = 0; look < 2; look++)
      flick_tile_load(memory, 0, (uint64_t)&now[look], 8);
    if (now[0] != now[1])
      expect(now[1], now[0], "a store behind the end of its right");
    before = now[0];
  }
  is_over = 1;
  void *result;
  pthread_join(thread, &result);
  expect((int64_t)result, 0, "a store");
  expect(stored, ROUNDS, "stores while the right is there");
}

int main(void) {
  uint64_t endpoints, dram = flick_tile_find(0, 0, 0, &endpoints);
  sends();
  copies(dram);
  revocations(dram);
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}

// Gates of the root's kernel between threads: calls and answers, credits and slots, times, and
// gates that go.
#include <flick/card.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 100, STORM = 2000 };

static int wrong;

static void expect(int64_t outcome, int64_t wanted, const char *what) {
  if (outcome == wanted)
    return;
  printf("%s: %ld in place of %ld\n", what, (long)outcome, (long)wanted);
  wrong++;
}

static uint64_t soon(void) { return flick_time() + flick_program.frequency / 1000; }

// Answers each message with the label and the double of its first word, until that is 0.
static void *serve(void *number) {
  uint64_t gate = *(uint64_t *)number, message[15], label;
  for (;;) {
    int64_t taken = flick_gate_receive(gate, (uint64_t)message, FLICK_FOR_EVER, &label);
    if (taken < 0)
      return (void *)taken;
    uint64_t answer[3] = {message[0] * 2, label, (uint64_t)taken >> 8};
    flick_gate_answer(gate, taken & 0xff, (uint64_t)answer, sizeof answer);
    if (message[0] == 0)
      return NULL;
  }
}

// Answers the first message too late.
static void *serve_late(void *number) {
  uint64_t gate = *(uint64_t *)number, message[15], label, answer[3] = {1, 1, 1};
  int64_t taken = flick_gate_receive(gate, (uint64_t)message, FLICK_FOR_EVER, &label);
  flick_thread_sleep(soon() + flick_program.frequency / 500);
  flick_gate_answer(gate, taken & 0xff, (uint64_t)answer, sizeof answer);
  return serve(number);
}

struct client {
  uint64_t sender, label, failed;
};

static void *call(void *argument) {
  struct client *client = argument;
  for (uint64_t n = 1; n <= CALLS; n++) {
    uint64_t message[2] = {n, 7}, answer[15] = {0};
    int64_t size = flick_gate_call(client->sender, (uint64_t)message, sizeof message,
                                   (uint64_t)answer, FLICK_FOR_EVER);
    client->failed +=
        size != 24 || answer[0] != 2 * n || answer[1] != client->label || answer[2] != 16;
  }
  return NULL;
}

static void *waits(void *sender) {
  uint64_t message[1] = {1}, answer[15];
  return (void *)flick_gate_call(*(uint64_t *)sender, (uint64_t)message, 8, (uint64_t)answer,
                                 FLICK_FOR_EVER);
}

static void *calls_briefly(void *sender) {
  uint64_t message[1] = {1}, answer[15];
  return (void *)flick_gate_call(*(uint64_t *)sender, (uint64_t)message, 8, (uint64_t)answer,
                                 soon());
}

int main(void) {
  uint64_t gate = flick_gate_create(), message[15] = {0}, answer[15], label;
  // Four clients, of which each has a label of its own.
  pthread_t server, threads[4];
  struct client clients[4];
  pthread_create(&server, NULL, serve, &gate);
  for (uint64_t n = 0; n < 4; n++) {
    clients[n] = (struct client){flick_gate_sender(gate, 100 + n, 4), 100 + n, 0};
    pthread_create(&threads[n], NULL, call, &clients[n]);
  }
  for (int n = 0; n < 4; n++) {
    pthread_join(threads[n], NULL);
    expect(clients[n].failed, 0, "calls of a client that fail");
  }
  uint64_t first = clients[0].sender;
  expect(flick_gate_call(first, (uint64_t)message, 8, (uint64_t)answer, FLICK_FOR_EVER), 24,
         "the last call");
  void *result;
  pthread_join(server, &result);

  // Nobody serves the gate. The message goes with its call.
  uint64_t begin = flick_time();
  expect(flick_gate_call(first, (uint64_t)message, 8, (uint64_t)answer, soon()), -FLICK_ETIMEDOUT,
         "a call without an answer");
  expect(flick_time() - begin < flick_program.frequency, 1, "its time");
  expect(flick_gate_receive(gate, (uint64_t)message, soon(), &label), -FLICK_ETIMEDOUT,
         "a message of nobody");
  pthread_create(&threads[0], NULL, calls_briefly, &first);
  int64_t taken = flick_gate_receive(gate, (uint64_t)message, FLICK_FOR_EVER, &label);
  expect(taken >> 8, 8, "the size of a message");
  expect(label, 100, "its label");
  pthread_join(threads[0], &result);
  expect((int64_t)result, -FLICK_ETIMEDOUT, "a call whose answer comes too late");
  // Nobody gets the answer.
  expect(flick_gate_answer(gate, taken & 0xff, (uint64_t)message, 8), 0, "a late answer");
  expect(flick_gate_answer(gate, taken & 0xff, (uint64_t)message, 8), -FLICK_EINVAL,
         "a second answer");
  expect(flick_gate_receive(gate, (uint64_t)message, soon(), &label), -FLICK_ETIMEDOUT,
         "an empty gate");
  // A process has 8 calls under way, also if nobody waits for them any more and they have slots.
  int64_t slots[8];
  for (int n = 0; n < 8; n++) {
    pthread_create(&threads[0], NULL, calls_briefly, &first);
    slots[n] = flick_gate_receive(gate, (uint64_t)message, FLICK_FOR_EVER, &label);
    pthread_join(threads[0], &result);
  }
  expect(flick_gate_call(first, (uint64_t)message, 8, (uint64_t)answer, soon()), -FLICK_EAGAIN,
         "a call too many");
  for (int n = 0; n < 8; n++)
    expect(flick_gate_answer(gate, slots[n] & 0xff, (uint64_t)message, 8), 0, "a late answer");
  expect(flick_gate_answer(gate, slots[0] & 0xff, (uint64_t)message, 8), -FLICK_EINVAL,
         "a second answer");
  expect(flick_gate_call(gate, (uint64_t)message, 8, (uint64_t)answer, soon()), -FLICK_EINVAL,
         "a call by what receives");
  expect(flick_gate_receive(first, (uint64_t)message, soon(), &label), -FLICK_EINVAL,
         "messages by what sends");
  expect(flick_gate_call(first, (uint64_t)message, 128, (uint64_t)answer, soon()), -FLICK_EINVAL,
         "a long message");
  expect(flick_gate_call(first, 64, 8, (uint64_t)answer, soon()), -FLICK_EFAULT, "a bad pointer");
  expect(flick_gate_answer(gate, 99, (uint64_t)message, 8), -FLICK_EINVAL, "a slot that is not");

  // The answer to a call whose time was over comes while the same thread waits for another one.
  uint64_t late = flick_gate_create(), to_late = flick_gate_sender(late, 0, 2);
  pthread_create(&server, NULL, serve_late, &late);
  message[0] = 21;
  expect(flick_gate_call(to_late, (uint64_t)message, 8, (uint64_t)answer, soon()), -FLICK_ETIMEDOUT,
         "a call that is answered late");
  message[0] = 33;
  expect(flick_gate_call(to_late, (uint64_t)message, 8, (uint64_t)answer, FLICK_FOR_EVER), 24,
         "a call");
  expect(answer[0], 66, "its answer");
  message[0] = 0;
  expect(flick_gate_call(to_late, (uint64_t)message, 8, (uint64_t)answer, soon()), 24, "the end");
  pthread_join(server, &result);

  // The gate goes while a thread waits for its messages, and another one for an answer.
  uint64_t other = flick_gate_create(), to_other = flick_gate_sender(other, 0, 1);
  uint64_t third = flick_gate_create();
  pthread_create(&threads[0], NULL, waits, &to_other);
  pthread_create(&server, NULL, serve, &third);
  flick_thread_sleep(soon());
  expect(flick_capability_revoke(other), 0, "the end of a gate");
  expect(flick_capability_revoke(third), 0, "the end of another one");
  pthread_join(threads[0], &result);
  expect((int64_t)result, -FLICK_EOWNERDEAD, "a call of a gate that goes");
  pthread_join(server, &result);
  expect((int64_t)result, -FLICK_ENOENT, "a wait at a gate that goes");
  expect(flick_gate_call(to_other, (uint64_t)message, 8, (uint64_t)answer, soon()), -FLICK_ENOENT,
         "a call by what was derived");

  // As many capabilities as a process may have, each derived from the last one, several times.
  uint64_t most = 0;
  for (int round = 0; round < 3; round++) {
    uint64_t endpoints, count = 0;
    int64_t top = flick_tile_memory(flick_tile_find(0, 0, 0, &endpoints), 4096), last = top;
    while (count < STORM && (last = flick_capability_narrow(last, 0, 4096, FLICK_READ)) >= 0)
      count++;
    if (count < STORM)
      expect(last, -FLICK_ENOMEM, "the last one");
    if (most == 0)
      most = count;
    expect(count, most, "capabilities");
    expect(flick_capability_revoke(top), 0, "a storm");
  }
  expect(most > 1000, 1, "a thousand capabilities");
  // Gates, too.
  int gates = 0;
  uint64_t all[64];
  while (gates < 64) {
    int64_t next = flick_gate_create();
    if (next < 0)
      break;
    all[gates++] = next;
  }
  expect(gates > 8, 1, "gates");
  for (int n = 0; n < gates; n++)
    expect(flick_capability_revoke(all[n]), 0, "a gate");
  for (uint64_t n = 0; n < 2000; n++) {
    uint64_t number = n * 0x9e3779b97f4a7c15;
    if (number != gate)
      expect(flick_capability_revoke(number), -FLICK_ENOENT, "a number of nothing");
  }
  printf("checks that fail: %d\n", wrong);
  return wrong != 0;
}

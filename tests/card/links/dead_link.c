// A link to another tile is dead, or dies (links/): threads that send there, or ask there, do not
// wait for ever. Tile 1 has a mailbox and takes no message.
#include "../bare_card.h"

enum { MAILBOX_CREATE = 64, MAILBOX_SEND = 66, PORTAL_WRITE = 68, PORT = 7 };
enum { MESSAGES = 40, SENDERS = 2 };

static char stacks[SENDERS + 2][4096] __attribute__((aligned(4096)));
static u64 errors[SENDERS + 1];

static u64 message[15];

static void sender(u64 n) {
  u64 error = 0;
  // The mailbox has room for some of them.
  for (int k = 0; k < MESSAGES && !error; k++)
    error = -call(MAILBOX_SEND, 1, PORT, (u64)message, -1ul, 0, 0, 0);
  __atomic_exchange_n(&errors[n], error, __ATOMIC_ACQ_REL);
  call1(THREAD_EXIT, 0);
}

static void writer(u64 n) {
  u64 error = -call(PORTAL_WRITE, 1, PORT, (u64)message, sizeof message, -1ul, 0, 0);
  __atomic_exchange_n(&errors[n], error, __ATOMIC_ACQ_REL);
  call1(THREAD_EXIT, 0);
}

static void watch(u64 until) {
  call1(THREAD_SLEEP, until);
  write_text("somebody waits for ever\n");
  call(PROCESS_END, 0, 1, 0, 0, 0, 0, 0);
}

static u64 begin(u64 entry, u64 argument, u64 stack) {
  return call(THREAD_CREATE, entry, argument, (u64)stacks[stack] + 4096, 0, 4, 0, 0);
}

void _start(struct program_start *start) {
  if (start->tile == 1) {
    call1(MAILBOX_CREATE, PORT);
    call1(THREAD_SLEEP, -1ul);
  }
  only_on_first_tile(start);
  // The other tile has its mailbox then.
  call1(THREAD_SLEEP, now() + start->frequency / 200);
  begin((u64)watch, now() + 4 * start->frequency, SENDERS + 1);
  u64 threads[SENDERS + 1];
  for (u64 n = 0; n < SENDERS; n++)
    threads[n] = begin((u64)sender, n, n);
  threads[SENDERS] = begin((u64)writer, SENDERS, SENDERS);
  for (int n = 0; n <= SENDERS; n++) {
    call(THREAD_JOIN, threads[n], -1ul, 0, 0, 0, 0, 0);
    print(n < SENDERS ? "a sender: " : "a writer: ", errors[n], "\n");
  }
  call(PROCESS_END, 0, 0, 0, 0, 0, 0, 0);
}

// Arguments that are what the kernel has in its records where nothing is set up: they are errors,
// and the hart goes on.
#include "bare_card.h"

enum { MAILBOX_CREATE = 64, MAILBOX_SEND = 66, MAILBOX_RECEIVE = 67, PORT = 3 };

static u64 message[15];

static void receive(u64 port, u64 buffer) {
  print("receive: ", -call(MAILBOX_RECEIVE, port, buffer, now(), 0, 0, 0, 0), "\n");
}

static void send(u64 tile, u64 port, u64 from) {
  print("send: ", -call(MAILBOX_SEND, tile, port, from, now(), 0, 0, 0), "\n");
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  message[0] = 1;
  receive(-1ul, (u64)message);
  send(-1ul, 0, (u64)message);
  call1(MAILBOX_CREATE, PORT);
  send(start->tile, PORT, (u64)message);
  send(-1ul, PORT, (u64)message);
  receive(PORT, (u64)message);
  receive(-1ul, (u64)message);
  // Another thread may have run: the hart has forgotten the pages.
  call1(THREAD_SLEEP, now() + 100);
  for (u64 at = 7; at < 32; at += 8) {
    receive(-1ul, at);
    receive(PORT, at);
    send(-1ul, 0, at);
    send(start->tile, PORT, at);
  }
  call1(THREAD_EXIT, 0);
}

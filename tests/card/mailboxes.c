// Mailboxes between processes of a tile, and between tiles: order, waits for room, errors. On a
// machine of several tiles each of them runs this program, and the first one prints.
#include "bare_card.h"

enum { MAILBOX_CREATE = 64, MAILBOX_CLOSE, MAILBOX_SEND, MAILBOX_RECEIVE };
enum { EPERM = 1, ENOENT = 2, EFAULT = 14, EEXIST = 17, EINVAL = 22, ETIMEDOUT = 110 };

#define MESSAGES 100
static char stack[4096] __attribute__((aligned(16)));
static u64 message[15];
static struct program_start *here;

static u64 create(u64 port) { return -call1(MAILBOX_CREATE, port); }

static u64 send(u64 tile, u64 port, u64 *from, u64 until) {
  return -call(MAILBOX_SEND, tile, port, (u64)from, until, 0, 0, 0);
}

static u64 receive(u64 port, u64 *to, u64 until, u64 *sender) {
  return -call(MAILBOX_RECEIVE, port, (u64)to, until, 0, 0, 0, sender);
}

static void fill(u64 *words, u64 n) {
  for (int k = 0; k < 15; k++)
    words[k] = n * 1000 + k;
}

static int is_filled(u64 *words, u64 n) {
  int good = 1;
  for (int k = 0; k < 15; k++)
    good = good && words[k] == n * 1000 + k;
  return good;
}

// A mailbox may not be there yet.
static void send_surely(u64 tile, u64 port, u64 *from) {
  u64 error;
  while ((error = send(tile, port, from, -1ul)) == ENOENT)
    call1(THREAD_SLEEP, now() + here->frequency / 2000);
  if (error)
    print("send: ", error, "\n");
}

static void child(u64 tile) {
  for (u64 n = 0; n < MESSAGES; n++) {
    fill(message, n);
    send_surely(tile, 1, message);
  }
  call(PROCESS_END, 0, receive(1, message, -1ul, 0), 0, 0, 0, 0, 0);
}

static void among_processes(void) {
  print("create ", create(1), "\n");
  print("again ", create(1), "\n");
  print("port ", create(2048), "\n");
  u64 process = call(PROCESS_COPY, 0, 0, 0, 0, 0, 0, 0);
  call(PROCESS_START, process, (u64)child, (u64)stack + 4096, here->tile, 0, 0, 0);
  // The mailbox becomes full.
  call1(THREAD_SLEEP, now() + here->frequency / 200);
  u64 good = 0, sender = 0;
  for (u64 n = 0; n < MESSAGES; n++) {
    u64 error = receive(1, message, -1ul, &sender);
    if (error)
      print("receive: ", error, "\n");
    good += is_filled(message, n) && sender == (here->tile << 32 | process);
  }
  print("messages ", good, "\n");
  u64 status = 0;
  call(PROCESS_WAIT, process, -1ul, 0, 0, 0, 0, &status);
  print("a child receives: ", status, "\n");
  print("none comes: ", receive(1, message, now() + 200, 0), "\n");
  print("a wild message: ", send(here->tile, 1, (u64 *)0x1000, -1ul), "\n");
  print("a wild buffer: ", receive(1, (u64 *)0x80000000, -1ul, 0), "\n");
  print("no tile: ", send(here->tiles, 1, message, -1ul), "\n");
  for (int n = 0; n < 16; n++)
    send(here->tile, 1, message, -1ul);
  print("full: ", send(here->tile, 1, message, now() + 100), "\n");
  print("close ", -call1(MAILBOX_CLOSE, 1), "\n");
  print("closed: ", send(here->tile, 1, message, -1ul), "\n");
}

#define EACH 50
static u64 next[64];

static void among_tiles(void) {
  if (here->tile != 0) {
    create(8);
    for (u64 n = 0; n < EACH; n++) {
      fill(message, n);
      send_surely(0, 7, message);
    }
    receive(8, message, -1ul, 0);
    message[0]++;
    send_surely(0, 9, message);
    call1(THREAD_EXIT, 0);
  }
  create(7);
  create(9);
  u64 good = 0, sender = 0, all = (here->tiles - 1) * EACH;
  for (u64 n = 0; n < all; n++) {
    u64 error = receive(7, message, -1ul, &sender);
    if (error)
      print("receive: ", error, "\n");
    good += is_filled(message, next[sender >> 32]++);
    // Others wait for room.
    if (n % 40 == 0)
      call1(THREAD_SLEEP, now() + here->frequency / 1000);
  }
  print("all of other tiles: ", good == all, "\n");
  u64 sum = 0;
  for (u64 tile = 1; tile < here->tiles; tile++) {
    fill(message, tile);
    send_surely(tile, 8, message);
  }
  for (u64 tile = 1; tile < here->tiles; tile++) {
    receive(9, message, -1ul, &sender);
    sum += message[0] == (sender >> 32) * 1000 + 1;
  }
  print("all have answered: ", sum == here->tiles - 1, "\n");
}

void _start(struct program_start *start) {
  here = start;
  if (start->tile == 0)
    among_processes();
  among_tiles();
  call1(THREAD_EXIT, 0);
}

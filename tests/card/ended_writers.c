// A process writes to a portal, and is ended meanwhile, each time a little later. The receiver's
// wait ends, the portal can be closed, and its memory is free again.
#include "bare_card.h"

enum {
  PORTAL_WRITE = 68,
  PORTAL_CREATE = 69,
  PORTAL_CLOSE = 70,
  PORTAL_ALLOW = 71,
  PORTAL_READ = 72
};
enum { SIZE = 4096, ROUNDS = 300 };

static struct program_start *here;
static u64 port;
static char stack[4096] __attribute__((aligned(4096)));
static char buffer[SIZE] __attribute__((aligned(4096))), data[SIZE] __attribute__((aligned(4096)));

static void writer(u64 begin) {
  while (now() < begin)
    ;
  call(PORTAL_WRITE, here->tile, port, (u64)data, SIZE, -1ul, 0, 0);
  call1(THREAD_SLEEP, -1ul);
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  here = start;
  buffer[0] = data[0] = stack[0] = 1;
  u64 before = 0, written = 0, ended = 0, others = 0, stuck = 0, status;
  for (u64 n = 0; n < ROUNDS; n++) {
    port = n % 64;
    call1(PORTAL_CREATE, port);
    call(PORTAL_ALLOW, port, start->tile << 32, (u64)buffer, SIZE, 0, 0, 0);
    u64 begin = now() + start->frequency / 20000,
        end = begin + n % 150 * (start->frequency / 2000000 + 1);
    u64 child = call1(PROCESS_COPY, 0);
    call(PROCESS_START, child, (u64)writer, (u64)stack + sizeof stack, begin, 0, 0, 0);
    while (now() < end)
      ;
    call(PROCESS_END, child, 0, 0, 0, 0, 0, 0);
    call(PROCESS_WAIT, child, -1ul, 0, 0, 0, 0, &status);
    // What was written in time is there; otherwise the consent can be used by another process.
    u64 error = -call(PORTAL_READ, port, now() + 100, 0, 0, 0, 0, 0);
    if (error == 0)
      written++;
    else if (error == 110)
      ended++;
    else
      others++;
    call1(PORTAL_CLOSE, port);
    u64 created = call1(PORTAL_CREATE, port);
    if (is_error(created))
      stuck++;
    else
      call1(PORTAL_CLOSE, port);
    if (n == 0)
      before = call1(MEMORY_FREE, 0);
  }
  print("written or ended in time: ", written + ended, "\n");
  print("other ends: ", others, "\n");
  print("portals that cannot be closed: ", stuck, "\n");
  print("pages are lost: ", before - call1(MEMORY_FREE, 0), "\n");
  call1(THREAD_EXIT, 0);
}

// Memory and places are used up, in each way that there is: who asks for more gets an error, or
// ends, and behind its end all memory is free again. A process holds most memory all the time, so
// that little is left on each machine.
#include "bare_card.h"

enum {
  THREAD_WAKEUP = 22,
  MEMORY_MAP = 32,
  MEMORY_UNMAP = 33,
  PROCESS_CREATE = 40,
  PROCESS_MAP = 42,
  ARCHIVE_MAP = 58,
  MAILBOX_CREATE = 64,
  MAILBOX_CLOSE = 65,
  MAILBOX_SEND = 66,
  PORTAL_CREATE = 69,
  PORTAL_CLOSE = 70,
  PORTAL_ALLOW = 71,
};
enum { PAGE = 4096, LEFT = 160, MOST_PAGES = 1 << 16, SHARED = 8 };
#define FAR 0x2800000000ul
// A process must not come to this.
#define ENDLESS 99

static struct program_start *here;
static char stacks[4][PAGE] __attribute__((aligned(PAGE)));
static u64 message[15];

static u64 free_pages(void) { return call1(MEMORY_FREE, 0); }
static u64 map(u64 at, u64 size) { return call(MEMORY_MAP, at, size, 3, 0, 0, 0, 0); }
static void touch(u64 at) { *(volatile char *)at = 1; }

// Takes pages until so many are left.
static void eat(u64 left) {
  u64 at = 0, size = 1 << 20, taken = 0, is;
  while ((is = free_pages()) > left) {
    // The last ones one by one: tables take some, too.
    u64 count = is - left > 256 ? (is - left) / 128 * 127 : 1;
    for (; count--; taken += PAGE) {
      if (taken % size == 0)
        at = map(0, size);
      touch(at + taken % size);
    }
  }
}

// Ends the process with the number of an error, or goes on.
static void end_if(u64 result) {
  if (is_error(result))
    call(PROCESS_END, 0, -result, 0, 0, 0, 0, 0);
}

static void sleeper(void) {
  call1(THREAD_SLEEP, -1ul);
  call1(THREAD_EXIT, 0);
}

static u64 begin(u64 entry) {
  return call(THREAD_CREATE, entry, 0, (u64)stacks[1] + PAGE, 0, 4, 0, 0);
}

static void registers(void) {
  eat(0);
  for (int n = 0; n < 100; n++)
    end_if(begin((u64)sleeper));
}

static void threads(void) {
  for (int n = 0; n < 1000; n++)
    end_if(begin((u64)sleeper));
}

static void data(void) {
  u64 at = map(0, LEFT * 2 * PAGE);
  for (int n = 0; n < LEFT * 2; n++)
    touch(at + n * PAGE);
}

static void pages(void) {
  for (int n = 0; n < 1000; n++)
    end_if(map(0, 16 << 20));
}

static void tables(void) {
  for (u64 n = 0; n < 1000; n++)
    end_if(map(FAR + (n << 21), PAGE));
}

static void messages(void) {
  eat(20);
  for (u64 port = 0; port < 1024; port++) {
    end_if(call1(MAILBOX_CREATE, port));
    end_if(call(MAILBOX_SEND, here->tile, port, (u64)message, -1ul, 0, 0, 0));
  }
}

static void portals(void) {
  u64 at = map(0, 1 << 20);
  for (u64 port = 0; port < 1024; port++) {
    end_if(call1(PORTAL_CREATE, port));
    end_if(call(PORTAL_ALLOW, port, 0, at, 1 << 20, 0, 0, 0));
  }
}

static void processes(void) {
  for (int n = 0; n < 100; n++)
    end_if(call1(PROCESS_CREATE, 0));
}

static void roots(void) {
  eat(10);
  for (int n = 0; n < 20; n++)
    end_if(call1(PROCESS_CREATE, 0));
}

static void copies(void) {
  eat(40);
  for (int n = 0; n < 20; n++)
    end_if(call1(PROCESS_COPY, 0));
}

static void shared_pages(void) {
  u64 at = map(0, PAGE), child = call1(PROCESS_CREATE, 0);
  end_if(child);
  eat(40);
  for (u64 n = 0; n < 1000; n++)
    end_if(call(PROCESS_MAP, child, FAR + (n << 21), at, PAGE, 3 | SHARED, 0, 0));
}

static void archive(void) {
  eat(4);
  for (int n = 0; n < 100000; n++)
    end_if(call1(ARCHIVE_MAP, 0));
}

static void writer(u64 at) {
  for (u64 n = 0; n < LEFT / 2; n++)
    touch(at + n * PAGE);
  call(PROCESS_END, 0, 0, 0, 0, 0, 0, 0);
}

static void copies_on_write(void) {
  u64 at = map(0, LEFT / 2 * PAGE), status;
  for (u64 n = 0; n < LEFT / 2; n++)
    touch(at + n * PAGE);
  u64 child = call1(PROCESS_COPY, 0);
  end_if(child);
  eat(20);
  call(PROCESS_START, child, (u64)writer, (u64)stacks[2] + PAGE, at, 0, 0, 0);
  call(PROCESS_WAIT, child, -1ul, 0, 0, 0, 0, &status);
  call(PROCESS_END, 0, status, 0, 0, 0, 0, 0);
}

// Without vectors the first one ends so, too.
static void vector(void) {
  __asm__ volatile(".option push\n.option arch, +v\nvsetivli zero, 1, e8, m1, ta, ma\nvmv.v.i v1, "
                   "1\n.option pop");
  call1(THREAD_SLEEP, -1ul);
}

static void vectors(void) {
  eat(12);
  for (int n = 0; n < 100; n++)
    end_if(begin((u64)vector));
  call1(THREAD_SLEEP, -1ul);
}

// Each process is the child of the one before. None of them ends by itself.
static void chain(u64 depth) {
  u64 child = call1(PROCESS_COPY, 0), status;
  if (is_error(child))
    call1(THREAD_SLEEP, -1ul);
  call(PROCESS_START, child, (u64)chain, (u64)stacks[2] + PAGE, depth + 1, 0, 0, 0);
  call(PROCESS_WAIT, child, -1ul, 0, 0, 0, 0, &status);
}

static const struct way {
  const char *name;
  void (*use)(void);
} ways[] = {
    {"registers of threads", registers},
    {"threads", threads},
    {"data", data},
    {"pages", pages},
    {"tables", tables},
    {"messages", messages},
    {"portals", portals},
    {"processes", processes},
    {"roots of tables", roots},
    {"copies of processes", copies},
    {"shared pages", shared_pages},
    {"archive", archive},
    {"copies on write", copies_on_write},
    {"vectors", vectors},
};

static void use(u64 number) {
  ways[number].use();
  call(PROCESS_END, 0, ENDLESS, 0, 0, 0, 0, 0);
}

// Runs a child, and returns how it has ended.
static u64 run(u64 entry, u64 argument) {
  u64 child = call1(PROCESS_COPY, 0), status = 0;
  call(PROCESS_START, child, entry, (u64)stacks[0] + PAGE, argument, 0, 0, 0);
  u64 got = call(PROCESS_WAIT, child, now() + here->frequency / 2, 0, 0, 0, 0, &status);
  if (got == child)
    return status;
  call(PROCESS_END, child, 0, 0, 0, 0, 0, 0);
  call(PROCESS_WAIT, child, -1ul, 0, 0, 0, 0, &status);
  return ENDLESS;
}

static void hoard(void) {
  eat(LEFT);
  call1(THREAD_SLEEP, -1ul);
}

// The kernel keeps its tables of ports.
static void make_ports(void) {
  for (u64 port = 0; port < 2048; port += 64) {
    if (!is_error(call1(MAILBOX_CREATE, port)))
      call1(MAILBOX_CLOSE, port);
    if (!is_error(call1(PORTAL_CREATE, port)))
      call1(PORTAL_CLOSE, port);
  }
}

void _start(struct program_start *start) {
  only_on_first_tile(start);
  here = start;
  make_ports();
  u64 hoarder = call1(PROCESS_COPY, 0), status;
  call(PROCESS_START, hoarder, (u64)hoard, (u64)stacks[3] + PAGE, 0, 0, 0, 0);
  while (free_pages() > LEFT)
    call1(THREAD_SLEEP, now() + start->frequency / 1000);
  for (u64 n = 0; n < sizeof ways / sizeof *ways; n++) {
    // Registers of threads stay the kernel's, so that the second time counts.
    run((u64)use, n);
    u64 before = free_pages(), ended = run((u64)use, n), after = free_pages();
    write_text(ways[n].name);
    print(": ", ended, "");
    if (after == before)
      write_text(", and all is free\n");
    else
      print(", and pages are lost: ", before - after, "\n");
  }
  call(PROCESS_END, hoarder, 0, 0, 0, 0, 0, 0);
  call(PROCESS_WAIT, hoarder, -1ul, 0, 0, 0, 0, &status);
  status = 0;
  // They end together, and some of them later than the first one.
  for (int n = 0; n < 2; n++) {
    run((u64)chain, 0);
    call1(THREAD_SLEEP, now() + start->frequency / 20);
    status = free_pages() - status;
  }
  print("a chain of processes: pages that are lost: ", status, "\n");
  call1(PROCESS_END, 0);
}

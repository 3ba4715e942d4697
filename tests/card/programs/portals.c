// TILES: 4
// Portals and requests in one tile: data of many sizes, from any place to any place, consents and
// their errors, and that all memory comes back.
#include <errno.h>
#include <flick/channels.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 5, MOST = 200000 };

static unsigned char from[MOST + 4096], to[MOST + 4096];
static struct flick_channel portal;

static const char *name_of(int result) {
  if (result >= 0)
    return "good";
  switch (errno) {
  case EACCES:
    return "EACCES";
  case EBUSY:
    return "EBUSY";
  case EEXIST:
    return "EEXIST";
  case EFAULT:
    return "EFAULT";
  case EINVAL:
    return "EINVAL";
  case ENOENT:
    return "ENOENT";
  case ETIMEDOUT:
    return "ETIMEDOUT";
  }
  return strerror(errno);
}

static uint64_t soon(void) { return flick_time() + flick_program.frequency / 1000; }

static void fill(unsigned char *bytes, size_t size, unsigned seed) {
  for (size_t n = 0; n < size; n++)
    bytes[n] = seed + n * 7 + n / 256;
}

static int is_filled(const unsigned char *bytes, size_t size, unsigned seed) {
  for (size_t n = 0; n < size; n++)
    if (bytes[n] != (unsigned char)(seed + n * 7 + n / 256))
      return 0;
  return 1;
}

static const struct {
  size_t size, from, to;
} cases[] = {
    {1, 0, 0},       {7, 3, 5},       {64, 0, 0},         {120, 4090, 1}, {4095, 1, 4095},
    {4096, 0, 0},    {4097, 4095, 1}, {10000, 2048, 100}, {65536, 0, 0},  {65536, 8, 4088},
    {100000, 77, 3}, {MOST, 0, 0},    {MOST, 4095, 4094},
};

static void *sender(void *unused) {
  struct flick_channel other = flick_channel_to(flick_program.tile, PORT);
  for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++) {
    fill(from + cases[n].from, cases[n].size, n);
    if (flick_portal_put(&other, from + cases[n].from, cases[n].size, FLICK_FOR_EVER) != 0)
      printf("put: %s\n", name_of(-1));
  }
  printf("sent %d times, %d bytes\n", (int)other.transfers, (int)other.bytes);
  return unused;
}

static void all_sizes(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, sender, NULL);
  int good = 0;
  for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++) {
    unsigned char *buffer = to + cases[n].to;
    memset(to, 0xee, sizeof to);
    if (flick_portal_consent(&portal, flick_program.tile, buffer, cases[n].size + n % 2) != 0)
      printf("consent: %s\n", name_of(-1));
    ptrdiff_t bytes = flick_portal_get(&portal, FLICK_FOR_EVER);
    good += bytes == (ptrdiff_t)cases[n].size && is_filled(buffer, bytes, n) &&
            buffer[bytes] == 0xee && (cases[n].to == 0 || buffer[-1] == 0xee);
  }
  pthread_join(thread, NULL);
  printf("good %d of %d\n", good, (int)(sizeof cases / sizeof *cases));
  printf("received %d times, %d bytes\n", (int)portal.transfers, (int)portal.bytes);
}

static void errors(void) {
  struct flick_channel other = flick_channel_to(flick_program.tile, PORT), none = other;
  none.port = PORT + 1;
  uint64_t me = flick_program.tile;
  struct flick_channel again;
  printf("open again: %s\n", name_of(flick_portal_open(&again, PORT)));
  printf("open a wrong port: %s\n", name_of(flick_portal_open(&again, FLICK_PORTS)));
  printf("get without consent: %s\n", name_of(flick_portal_get(&portal, FLICK_FOR_EVER)));
  printf("put without consent: %s\n", name_of(flick_portal_put(&other, from, 1, soon())));
  printf("put to no portal: %s\n", name_of(flick_portal_put(&none, from, 1, soon())));
  printf("put nothing: %s\n", name_of(flick_portal_put(&other, from, 0, soon())));
  printf("put too much: %s\n",
         name_of(flick_portal_put(&other, from, FLICK_PORTAL_MAX + 1, soon())));
  printf("consent to nothing: %s\n", name_of(flick_portal_consent(&portal, me, to, 0)));
  printf("consent to too much: %s\n",
         name_of(flick_portal_consent(&portal, me, to, FLICK_PORTAL_MAX + 1)));
  printf("consent to no tile: %s\n",
         name_of(flick_portal_consent(&portal, flick_program.tiles, to, 8)));
  printf("consent at a wild place: %s\n",
         name_of(flick_portal_consent(&portal, me, (void *)0x100, 8)));
  printf("consent to constant data: %s\n",
         name_of(flick_portal_consent(&portal, me, (void *)cases, 8)));
  printf("consent: %s\n", name_of(flick_portal_consent(&portal, me, to, 100)));
  printf("consent again: %s\n", name_of(flick_portal_consent(&portal, me, to, 100)));
  printf("get in time: %s\n", name_of(flick_portal_get(&portal, soon())));
  printf("put more than that: %s\n", name_of(flick_portal_put(&other, from, 101, soon())));
  printf("put from a wild place: %s\n",
         name_of(flick_portal_put(&other, (void *)0x100, 100, soon())));
  printf("put: %s\n", name_of(flick_portal_put(&other, from, 100, soon())));
  printf("consent before the get: %s\n", name_of(flick_portal_consent(&portal, me, to, 100)));
  printf("get: %d\n", (int)flick_portal_get(&portal, soon()));
}

// Pages that nobody has touched, and pages that are given up while somebody may write to them.
static void strange_memory(void) {
  struct flick_channel other = flick_channel_to(flick_program.tile, PORT);
  uint64_t me = flick_program.tile, size = 8 * FLICK_PAGE;
  int64_t empty = flick_memory_map(0, size, FLICK_READ),
          new = flick_memory_map(0, size, FLICK_READ | FLICK_WRITE);
  flick_portal_consent(&portal, me, (void *)new, size);
  printf("zeros: %s\n", name_of(flick_portal_put(&other, (void *)empty, size, soon())));
  printf("bytes: %d\n", (int)flick_portal_get(&portal, soon()));
  int sum = 0;
  for (uint64_t n = 0; n < size; n++)
    sum += ((unsigned char *)new)[n];
  printf("sum: %d\n", sum);
  flick_portal_consent(&portal, me, (void *)new, size);
  flick_memory_unmap(new, size);
  flick_memory_unmap(empty, size);
  printf("to memory that is gone: %s\n", name_of(flick_portal_put(&other, from, size, soon())));
  printf("bytes: %d\n", (int)flick_portal_get(&portal, soon()));
}

static void requests(void) {
  struct flick_channel other = flick_channel_to(flick_program.tile, PORT);
  static struct flick_request get, put;
  memset(to, 0, sizeof to);
  flick_portal_consent(&portal, flick_program.tile, to, MOST);
  printf("start get: %s\n", name_of(flick_portal_start_get(&portal, &get)));
  printf("get waits: %s\n", name_of(flick_request_wait(&get, soon())));
  fill(from, MOST, 3);
  printf("start put: %s\n", name_of(flick_portal_start_put(&other, from, MOST, &put)));
  printf("put: %d\n", (int)flick_request_wait(&put, FLICK_FOR_EVER));
  printf("get: %d\n", (int)flick_request_wait(&get, FLICK_FOR_EVER));
  printf("data: %d\n", is_filled(to, MOST, 3));
  printf("wait again: %s\n", name_of(flick_request_wait(&get, soon())));
  static struct flick_channel mailbox;
  static uint64_t message[15], answer[15];
  flick_mailbox_open(&mailbox, PORT);
  printf("start mail: %s\n", name_of(flick_mailbox_start_get(&mailbox, answer, &get)));
  message[14] = 77;
  printf("mail: %s\n", name_of(flick_mailbox_put(&mailbox, message, soon())));
  printf("mail has %d bytes, ", (int)flick_request_wait(&get, FLICK_FOR_EVER));
  printf("%d\n", (int)answer[14]);
  printf("mailbox: %d transfers, %d bytes\n", (int)mailbox.transfers, (int)mailbox.bytes);
  flick_mailbox_unlink(&mailbox);
}

static void all_ports(void) {
  static struct flick_channel channels[FLICK_PORTS];
  int good = 0;
  for (int n = 0; n < FLICK_PORTS; n++)
    good += flick_portal_open(&channels[n], n) == 0;
  for (int n = 0; n < FLICK_PORTS; n++)
    good += flick_mailbox_open(&channels[n], n) == 0;
  // Those behind the first ones have no endpoint of a unit.
  static uint64_t message[15];
  for (int n = 0; n < FLICK_PORTS; n += 93) {
    message[3] = n;
    good += flick_mailbox_put(&channels[n], message, soon()) == 0;
  }
  for (int n = 0; n < FLICK_PORTS; n += 93)
    good +=
        flick_mailbox_get(&channels[n], message, soon(), NULL) == 0 && message[3] == (uint64_t)n;
  for (int n = 0; n < FLICK_PORTS; n++)
    good += flick_mailbox_unlink(&channels[n]) == 0;
  for (int n = 0; n < FLICK_PORTS; n++)
    good += flick_portal_unlink(&channels[n]) == 0;
  printf("ports: %d\n", good);
}

int main(void) {
  if (flick_program.tile != 0)
    return 0;
  // Tables of ports, and pages of this process, are there from here on.
  all_ports();
  fill(from, sizeof from, 0);
  memset(to, 0, sizeof to);
  for (int round = 0; round < 2; round++) {
    uint64_t before, all;
    before = flick_memory_free(&all);
    printf("open: %s\n", name_of(flick_portal_open(&portal, PORT)));
    errors();
    all_sizes();
    strange_memory();
    requests();
    // A consent that is not used goes with the portal.
    flick_portal_consent(&portal, flick_program.tile, to, MOST);
    printf("unlink: %s\n", name_of(flick_portal_unlink(&portal)));
    if (round == 1)
      printf("memory is back: %d\n", (uint64_t)flick_memory_free(&all) == before);
  }
}

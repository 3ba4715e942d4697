// Names of mailboxes and memory that programs share; they end with the program that has made them.
// SERVERS: yes
#include <errno.h>
#include <flick/servers.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARENTS_PORT = 40, CHILDS_PORT = 41, WORDS = 10000 };

static uint64_t soon(unsigned milliseconds) {
  return flick_time() + flick_program.frequency / 1000 * milliseconds;
}

static const char *outcome(int result) { return result < 0 ? strerror(errno) : "good"; }

static pid_t start(const char *role) {
  pid_t child;
  char *words[] = {"named", (char *)role, NULL};
  int error = posix_spawn(&child, "named", NULL, NULL, words, NULL);
  if (error)
    printf("spawn: %s\n", strerror(error));
  return child;
}

static int end_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// Waits for the parent's name, doubles each word of its memory, and says so.
static int helper(void) {
  struct flick_address address;
  if (flick_name_look_up("parent", FLICK_FOR_EVER, &address))
    return 1;
  size_t size;
  flick_cache_refresh();
  unsigned *words = flick_region_map("words", FLICK_READ | FLICK_WRITE, FLICK_FOR_EVER, &size);
  for (size_t n = 0; words && n < size / sizeof *words; n++)
    words[n] *= 2;
  uint64_t message[15] = {size};
  int64_t sent = flick_mailbox_send(address.tile, address.port, (uintptr_t)message, soon(1000));
  // The name and the memory are not its own.
  if (flick_name_remove("parent") == 0 || errno != EPERM || flick_region_remove("words") == 0)
    return 2;
  return sent || !words || flick_region_unmap(words) ? 3 : 0;
}

// A server of its own, which answers one message, and fails at the second one.
static int service(void) {
  flick_mailbox_create(CHILDS_PORT);
  flick_region_create("its own", 5000);
  flick_name_register("service", (struct flick_address){flick_program.tile, CHILDS_PORT});
  for (int n = 0;; n++) {
    uint64_t message[15], from;
    flick_mailbox_receive(CHILDS_PORT, (uintptr_t)message, FLICK_FOR_EVER, &from);
    if (n)
      raise(SIGABRT);
    message[0]++;
    flick_mailbox_send(from >> 32, message[1], (uintptr_t)message, soon(1000));
  }
}

static void words(void) {
  printf("create: %s\n", outcome(flick_region_create("words", WORDS * sizeof(unsigned))));
  printf("again: %s\n", outcome(flick_region_create("words", 1)));
  unsigned *words = flick_region_map("words", FLICK_READ | FLICK_WRITE, 0, NULL);
  for (unsigned n = 0; n < WORDS; n++)
    words[n] = n;
  // The child waits for the name.
  pid_t child = start("helper");
  usleep(1000);
  struct flick_address here = {flick_program.tile, PARENTS_PORT};
  printf("register: %s\n", outcome(flick_name_register("parent", here)));
  printf("again: %s\n", outcome(flick_name_register("parent", here)));
  uint64_t message[15] = {0}, from = 0;
  flick_mailbox_receive(PARENTS_PORT, (uintptr_t)message, soon(5000), &from);
  flick_cache_refresh();
  printf("from the child: %d, %lu bytes\n", (pid_t)from == child, (unsigned long)message[0]);
  unsigned good = 0;
  for (unsigned n = 0; n < WORDS; n++)
    good += words[n] == 2 * n;
  printf("%u words, status %d\n", good, end_of(child));
  printf("remove: %s\n", outcome(flick_region_remove("words")));
  words[0] = 5;
  printf("mapped still: %u\n", words[0]);
  printf("not by name: %d, %s\n", flick_region_map("words", FLICK_READ, 0, NULL) != NULL,
         strerror(errno));
  printf("unmap: %s\n", outcome(flick_region_unmap(words)));
  printf("again: %s\n", outcome(flick_region_unmap(words)));
  printf("too large: %s\n", outcome(flick_region_create("large", 17 << 20)));
  printf("remove: %s\n", outcome(flick_name_remove("parent")));
  printf("again: %s\n", outcome(flick_name_remove("parent")));
}

static void died(void) {
  pid_t child = start("service");
  struct flick_address address;
  flick_name_look_up("service", FLICK_FOR_EVER, &address);
  const unsigned char *own = flick_region_map("its own", FLICK_READ, soon(1000), NULL);
  uint64_t message[15] = {41, PARENTS_PORT}, from;
  flick_mailbox_send(address.tile, address.port, (uintptr_t)message, soon(1000));
  flick_mailbox_receive(PARENTS_PORT, (uintptr_t)message, soon(1000), &from);
  printf("the service says %lu\n", (unsigned long)message[0]);
  flick_mailbox_send(address.tile, address.port, (uintptr_t)message, soon(1000));
  printf("it ends: %d\n", WEXITSTATUS(end_of(child)));
  int64_t sent = flick_mailbox_send(address.tile, address.port, (uintptr_t)message, soon(1000));
  printf("its mailbox: %s\n", strerror(flick_errno(sent)));
  printf("its name: %s\n", outcome(flick_name_look_up("service", soon(1), &address)));
  printf("its memory: %d, by name %d\n", own[0], flick_region_map("its own", 1, 0, NULL) != NULL);
}

int main(int count, char **all) {
  if (count > 1)
    return strcmp(all[1], "helper") ? service() : helper();
  flick_mailbox_create(PARENTS_PORT);
  words();
  died();
  return 0;
}

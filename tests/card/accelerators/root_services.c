// A service of the root's kernel, and its clients: sessions, what a server gives by them, views,
// and servers that end. Roles: a server, which ends when it is told so; the client; and a process
// that holds a session when it ends.
#include <flick/card.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACCEPT, REFUSE, BE_LATE };
enum { ECHO = 1, GIVE, MOVE, COUNT, STORM, WAIT, END_SESSION, DIE };
enum { PAGES = 4, MOST_SESSIONS = 8, LABEL = 1000, OWN_LABEL = 77 };

static const char name[] = "echo";
static int wrong;

static void expect(int64_t outcome, int64_t wanted, const char *what) {
  if (outcome == wanted)
    return;
  printf("%s: %ld in place of %ld\n", what, (long)outcome, (long)wanted);
  wrong++;
}

static uint64_t in_ms(uint64_t ms) { return flick_time() + ms * flick_program.frequency / 1000; }

static uint64_t closed, closed_labels, sessions[16], count;

static void opens(uint64_t gate, uint64_t slot, const uint64_t *message) {
  uint64_t answer[2] = {0, LABEL + count};
  sessions[count++ % 16] = message[1];
  expect(flick_session_give(message[1], gate), -FLICK_EACCES, "a gift that nobody waits for");
  if (message[2] == REFUSE)
    answer[0] = FLICK_EDEADLK;
  if (message[2] == BE_LATE)
    flick_thread_sleep(in_ms(3));
  flick_gate_answer(gate, slot, (uint64_t)answer, sizeof answer);
}

static int serve_until_told(void) {
  uint64_t gate = flick_gate_create(), endpoints, page[FLICK_PAGE / 8];
  int64_t service;
  while ((service = flick_service_create(gate, (uint64_t)name, 4, OWN_LABEL)) == -FLICK_EEXIST)
    flick_thread_sleep(in_ms(1));
  expect(service < 0, 0, "service_create");
  expect(flick_service_create(gate, (uint64_t)name, 4, 0), -FLICK_EEXIST, "the name of another");
  expect(flick_service_create(gate, (uint64_t)name, 0, 0), -FLICK_EINVAL, "no name");
  expect(flick_service_create(service, (uint64_t)"x", 1, 0), -FLICK_EINVAL, "no gate");
  uint64_t dram = flick_tile_find(0, 0, 0, &endpoints);
  uint64_t memory = flick_tile_memory(dram, PAGES * FLICK_PAGE), view = flick_view_create(memory);
  for (uint64_t n = 0; n < PAGES; n++) {
    page[0] = n + 1;
    flick_tile_store(memory, n * FLICK_PAGE, (uint64_t)page, FLICK_PAGE);
  }
  for (;;) {
    uint64_t message[15], label, answer[4] = {0};
    int64_t taken = flick_gate_receive(gate, (uint64_t)message, FLICK_FOR_EVER, &label);
    uint64_t slot = taken & 0xff, session = sessions[(label - LABEL) % 16];
    if (label == OWN_LABEL && message[0] == FLICK_SERVICE_OPEN) {
      opens(gate, slot, message);
      continue;
    }
    if (label == OWN_LABEL) {
      expect(slot, FLICK_NO_SLOT, "the slot of an end");
      expect(flick_capability_revoke(message[1]), -FLICK_ENOENT, "a session that is over");
      closed++;
      closed_labels += message[2];
      continue;
    }
    switch (message[0]) {
    case ECHO:
      answer[1] = label;
      break;
    case GIVE:
      answer[1] = flick_session_give(session, flick_capability_narrow(memory, 0, 8, FLICK_READ));
      answer[2] = flick_session_give(session, view);
      expect(flick_session_give(session, gate), -FLICK_EINVAL, "a gate that is given");
      break;
    case MOVE:
      answer[0] = flick_view_set(view, message[1], message[2], message[3]);
      break;
    case COUNT:
      answer[1] = closed;
      answer[2] = closed_labels;
      break;
    case STORM:
      while ((int64_t)(answer[0] = flick_session_give(session, memory)) >= 0)
        answer[1]++;
      break;
    case WAIT:
      continue;
    case END_SESSION:
      flick_capability_revoke(session);
      flick_gate_answer(gate, slot, (uint64_t)answer, 8);
      continue;
    case DIE:
      return wrong;
    }
    flick_gate_answer(gate, slot, (uint64_t)answer, sizeof answer);
  }
}

static int64_t open_for(uint64_t argument, uint64_t until) {
  int64_t session;
  while ((session = flick_session_open((uint64_t)name, 4, argument, until)) == -FLICK_ENOENT)
    flick_thread_sleep(in_ms(1));
  return session;
}

static int64_t ask(uint64_t session, uint64_t word, uint64_t a, uint64_t b, uint64_t c,
                   uint64_t *answer) {
  uint64_t message[4] = {word, a, b, c};
  return flick_gate_call(session, (uint64_t)message, sizeof message, (uint64_t)answer,
                         FLICK_FOR_EVER);
}

static void *waits(void *session) {
  uint64_t answer[15];
  return (void *)ask(*(uint64_t *)session, WAIT, 0, 0, 0, answer);
}

static void sessions_of(uint64_t first, uint64_t label) {
  uint64_t answer[15], all[MOST_SESSIONS], before, sum = 0;
  expect(flick_gate_receive(first, (uint64_t)answer, in_ms(1), answer), -FLICK_EINVAL,
         "messages by a session");
  expect(flick_session_give(first, first), -FLICK_EINVAL, "a gift of a client");
  expect(flick_session_open((uint64_t)"none", 4, 0, FLICK_FOR_EVER), -FLICK_ENOENT, "no service");
  expect(open_for(REFUSE, FLICK_FOR_EVER), -FLICK_EDEADLK, "a session that is refused");
  ask(first, COUNT, 0, 0, 0, answer);
  expect(answer[1], 0, "ends of what was refused");
  all[0] = first;
  for (uint64_t n = 1; n < MOST_SESSIONS; n++) {
    all[n] = open_for(ACCEPT, FLICK_FOR_EVER);
    ask(all[n], ECHO, 0, 0, 0, answer);
    expect(answer[1], label + n + 1, "the label of a session");
  }
  expect(open_for(ACCEPT, FLICK_FOR_EVER), -FLICK_ENOMEM, "a session too many");
  for (uint64_t n = 1; n < MOST_SESSIONS; n++) {
    sum += label + n + 1;
    expect(flick_capability_revoke(all[n]), 0, "the end of a session");
  }
  ask(first, COUNT, 0, 0, 0, answer);
  expect(answer[1], MOST_SESSIONS - 1, "ends that the server has seen");
  expect(answer[2], sum, "their labels");
  before = answer[1];
  // The server accepts later than the client waits. It learns that the session is over.
  expect(open_for(BE_LATE, in_ms(1)), -FLICK_ETIMEDOUT, "a session that comes too late");
  flick_thread_sleep(in_ms(5));
  ask(first, COUNT, 0, 0, 0, answer);
  expect(answer[1], before + 1, "the end of a session that came too late");
  // The server ends a session while a thread waits for its answer.
  uint64_t other = open_for(ACCEPT, FLICK_FOR_EVER);
  pthread_t thread;
  void *result;
  pthread_create(&thread, NULL, waits, &other);
  flick_thread_sleep(in_ms(1));
  expect(ask(other, END_SESSION, 0, 0, 0, answer), -FLICK_EOWNERDEAD, "a session that ends");
  pthread_join(thread, &result);
  expect((int64_t)result, -FLICK_EOWNERDEAD, "a call of a session that ends");
  expect(ask(other, ECHO, 0, 0, 0, answer), -FLICK_ENOENT, "a call by what is gone");
}

static void views_of(uint64_t session, uint64_t memory, uint64_t view) {
  uint64_t answer[15], word = 0, at = (uint64_t)&word;
  expect(flick_tile_load(memory, 0, at, 8), 0, "a load of what was given");
  expect(word, 1, "the first page");
  expect(flick_tile_store(memory, 0, at, 8), -FLICK_EPERM, "a store without the right");
  expect(flick_tile_load(view, 0, at, 8), -FLICK_EINVAL, "a view that shows nothing");
  for (uint64_t n = 0; n < PAGES; n++) {
    ask(session, MOVE, n * FLICK_PAGE, 16, n == 2 ? FLICK_READ | FLICK_WRITE : FLICK_READ, answer);
    expect(flick_tile_load(view, 0, at, 8), 0, "a load by a view");
    expect(word, n + 1, "what it shows");
    expect(flick_tile_load(view, 16, at, 8), -FLICK_EINVAL, "a load behind it");
    expect(flick_tile_store(view, 8, at, 8), n == 2 ? 0 : -FLICK_EPERM, "a store by a view");
  }
  ask(session, MOVE, PAGES * FLICK_PAGE, 8, FLICK_READ, answer);
  expect(answer[0], -FLICK_EINVAL, "a view of memory behind");
  expect(flick_view_set(view, 0, 8, FLICK_READ), -FLICK_EPERM, "a view of another");
  expect(flick_capability_narrow(view, 0, 8, FLICK_READ), -FLICK_EINVAL, "a part of a view");
}

static int use(void) {
  uint64_t answer[15], first = open_for(ACCEPT, FLICK_FOR_EVER);
  sessions_of(first, LABEL);
  expect(ask(first, GIVE, 0, 0, 0, answer), 32, "what is given");
  uint64_t memory = answer[1], view = answer[2];
  views_of(first, memory, view);
  ask(first, STORM, 0, 0, 0, answer);
  expect(answer[0], -FLICK_EACCES, "the last gift");
  expect(answer[1], 4, "gifts");
  // The server ends while threads wait for it, and what it has given is gone.
  pthread_t thread;
  void *result;
  pthread_create(&thread, NULL, waits, &first);
  flick_thread_sleep(in_ms(1));
  expect(ask(first, DIE, 0, 0, 0, answer), -FLICK_EOWNERDEAD, "a call of a server that ends");
  pthread_join(thread, &result);
  expect((int64_t)result, -FLICK_EOWNERDEAD, "another one");
  expect(ask(first, ECHO, 0, 0, 0, answer), -FLICK_ENOENT, "a session with it");
  expect(flick_tile_load(memory, 0, (uint64_t)answer, 8), -FLICK_ENOENT, "memory of it");
  expect(flick_tile_load(view, 0, (uint64_t)answer, 8), -FLICK_ENOENT, "a view of it");
  // Another one has the name. A process whose session has not ended is over.
  uint64_t second = open_for(ACCEPT, FLICK_FOR_EVER);
  do {
    flick_thread_sleep(in_ms(1));
    ask(second, COUNT, 0, 0, 0, answer);
  } while (answer[1] < 2);
  ask(second, DIE, 0, 0, 0, answer);
  return wrong;
}

// Two sessions, of which one is never answered, end with the process. The second server sees them.
static int hold(void) {
  uint64_t answer[15];
  while (flick_session_open((uint64_t)name, 4, ACCEPT, FLICK_FOR_EVER) < 0)
    flick_thread_sleep(in_ms(1));
  int64_t last = flick_session_open((uint64_t)name, 4, BE_LATE, in_ms(1));
  expect(last, -FLICK_ETIMEDOUT, "a session that comes too late");
  (void)answer;
  return wrong;
}

int main(int argc, char **argv) {
  const char *role = argc > 1 ? argv[1] : "use";
  if (!strcmp(role, "hold")) {
    // The first server is over when the file is there.
    FILE *file;
    while (!(file = fopen("over", "r")))
      flick_thread_sleep(in_ms(1));
    return hold();
  }
  if (!strcmp(role, "use")) {
    int failed = use();
    printf("checks of the client that fail: %d\n", failed);
    return failed != 0;
  }
  int failed = serve_until_told();
  fclose(fopen("over", "w"));
  if (failed)
    printf("checks of a server that fail: %d\n", failed);
  return failed != 0;
}

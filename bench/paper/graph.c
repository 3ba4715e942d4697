#define _GNU_SOURCE
#include "graph.h"

#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

_Noreturn void fail(const char *format, ...) {
  va_list arguments;
  fflush(stdout);
  fprintf(stderr, "%s: ", program_invocation_short_name);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

static void *grow(void *memory, size_t *room, size_t element) {
  *room = *room ? *room * 2 : 1 << 20;
  void *grown = realloc(memory, *room * element);
  if (!grown)
    fail("not enough memory for %zu edges", *room);
  return grown;
}

/* Reads a file in pieces, because a call for each character would take longer than its use. */
typedef struct input {
  const char *path;
  FILE *file;
  unsigned long line;
  unsigned char *at, *end, piece[1 << 20];
} input;

static int next_piece(input *in) {
  size_t read = fread(in->piece, 1, sizeof in->piece, in->file);
  if (read == 0 && ferror(in->file))
    fail("%s: %s", in->path, strerror(errno));
  in->at = in->piece;
  in->end = in->piece + read;
  return read != 0;
}

/* -1 at the end. */
static inline int peek(input *in) { return in->at < in->end || next_piece(in) ? *in->at : -1; }

static _Noreturn void bad(const input *in, const char *what) {
  fail("%s:%lu: %s", in->path, in->line, what);
}

static void skip_blanks(input *in) {
  for (int c; (c = peek(in)) == ' ' || c == '\t' || c == '\r';)
    in->at++;
}

static uint32_t read_vertex(input *in) {
  uint64_t value = 0;
  int c = peek(in);
  if (c < '0' || c > '9')
    bad(in, "an edge is two vertex numbers");
  for (; c >= '0' && c <= '9'; c = peek(in)) {
    value = value * 10 + (uint64_t)(c - '0');
    if (value >= UINT32_MAX)
      bad(in, "a vertex number above 4294967294");
    in->at++;
  }
  return (uint32_t)value;
}

/* Puts gzip between the file and the reader. */
static pid_t unpack(input *in) {
  int ends[2];
  pid_t child;
  posix_spawn_file_actions_t actions;
  char *command[] = {"gzip", "-dc", "--", (char *)in->path, NULL};
  fclose(in->file);
  if (pipe(ends) != 0 || posix_spawn_file_actions_init(&actions) != 0 ||
      posix_spawn_file_actions_adddup2(&actions, ends[1], 1) != 0 ||
      posix_spawn_file_actions_addclose(&actions, ends[0]) != 0 ||
      (errno = posix_spawnp(&child, "gzip", &actions, NULL, command, environ)) != 0)
    fail("gzip cannot be started: %s", strerror(errno));
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (!(in->file = fdopen(ends[0], "r")))
    fail("%s: %s", in->path, strerror(errno));
  in->at = in->end = in->piece;
  return child;
}

static void count_vertices(edges *list) {
  unsigned char *seen = calloc(list->bound ? list->bound : 1, 1);
  if (!seen)
    fail("not enough memory for %" PRIu32 " vertices", list->bound);
  for (size_t i = 0; i < list->count; i++)
    seen[list->edge[i].from] = seen[list->edge[i].to] = 1;
  list->vertices = 0;
  for (uint32_t v = 0; v < list->bound; v++)
    list->vertices += seen[v];
  free(seen);
}

edges read_snap(const char *path) {
  static input in;
  in = (input){.path = path, .line = 1};
  if (!(in.file = fopen(path, "r")))
    fail("%s: %s", path, strerror(errno));
  pid_t child = 0;
  if (peek(&in) == 0x1f)
    child = unpack(&in);

  edges list = {0};
  size_t room = 0;
  for (; skip_blanks(&in), peek(&in) >= 0; in.line++) {
    if (peek(&in) == '#') {
      while (peek(&in) >= 0 && peek(&in) != '\n')
        in.at++;
    } else if (peek(&in) != '\n') {
      uint32_t from = read_vertex(&in);
      skip_blanks(&in);
      uint32_t to = read_vertex(&in);
      skip_blanks(&in);
      if (list.count == room)
        list.edge = grow(list.edge, &room, sizeof *list.edge);
      list.edge[list.count++] = (edge){from, to};
      uint32_t most = from > to ? from : to;
      if (most >= list.bound)
        list.bound = most + 1;
    }
    if (peek(&in) >= 0 && *in.at++ != '\n')
      bad(&in, "more than two vertex numbers in a line");
  }
  fclose(in.file);
  int status = 0;
  if (child && (waitpid(child, &status, 0) != child || status != 0))
    fail("%s: gzip cannot unpack it", path);
  if (!list.count)
    fail("%s: no edges", path);
  count_vertices(&list);
  return list;
}

/* xorshift64*, Vigna 2016. */
static uint64_t random_state;
static inline uint32_t random_32(void) {
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return (uint32_t)(random_state * 0x2545f4914f6cdd1d >> 32);
}
static inline uint32_t random_below(uint32_t bound) {
  return (uint32_t)((uint64_t)random_32() * bound >> 32);
}

/* One of BOUND ranks, the lower the likelier: rank r has the weight (r + r0)^(-3/4), which gives
 * degrees that fall with the power 1 + 4/3 of their number. A uniform x from LEAST to 1 to the
 * power of 4 has that distribution. It is in fixed point, because a library's `pow` would not round
 * alike everywhere. LEAST bounds the most frequent rank to 432 times the mean, as it is about in
 * the three graphs of the paper. */
#define ONE ((uint64_t)1 << 32)
#define LEAST (ONE / 12)
static inline uint64_t fourth(uint64_t x) {
  uint64_t square = x * x >> 32;
  return square * square >> 32;
}
static inline uint32_t random_rank(uint32_t bound) {
  const uint64_t first = (LEAST * LEAST >> 32) * (LEAST * LEAST >> 32) >> 32;
  uint64_t x = LEAST + ((ONE - LEAST) * random_32() >> 32);
  return (uint32_t)((fourth(x) - first) * bound / (ONE - first));
}

edges generate(uint32_t vertices, size_t count, uint64_t seed) {
  if (vertices < 2 || count < vertices - 1)
    fail("a connected graph of %" PRIu32 " vertices has not %zu edges", vertices, count);
  edges list = {.count = count, .bound = vertices, .vertices = vertices};
  list.edge = malloc(count * sizeof *list.edge);
  uint32_t *name = malloc(vertices * sizeof *name);
  if (!list.edge || !name)
    fail("not enough memory for %zu edges", count);
  random_state = seed ? seed : 1;
  /* The number of a vertex says nothing about its degree. */
  for (uint32_t v = 0; v < vertices; v++) {
    uint32_t other = random_below(v + 1);
    name[v] = v;
    name[v] = name[other];
    name[other] = v;
  }
  /* A tree reaches all vertices. The remaining edges are between any two. */
  size_t i = 0;
  for (uint32_t v = 1; v < vertices; v++)
    list.edge[i++] = (edge){name[v], name[random_rank(v)]};
  while (i < count) {
    uint32_t from = random_rank(vertices), to = random_rank(vertices);
    if (from != to)
      list.edge[i++] = (edge){name[from], name[to]};
  }
  free(name);
  return list;
}

edges synthetic(const char *name) {
  /* As SNAP states them for soc-Epinions1, soc-Pokec and soc-LiveJournal1. */
  static const struct {
    const char *name;
    uint32_t vertices;
    size_t edges;
  } known[] = {
      {"epinions", 75879, 508837},
      {"pokec", 1632803, 30622564},
      {"livejournal", 4847571, 68993773},
  };
  const uint64_t seed = 0x9e3779b97f4a7c15;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].name, name) == 0)
      return generate(known[i].vertices, known[i].edges, seed);
  uint32_t vertices;
  size_t count;
  char more;
  if (sscanf(name, "%" SCNu32 ",%zu%c", &vertices, &count, &more) != 2)
    fail("%s: epinions, pokec, livejournal or VERTICES,EDGES is wanted", name);
  return generate(vertices, count, seed);
}

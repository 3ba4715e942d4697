/* Breadth-first search, after the Flick paper (ISCA 2020), section V.C: the graph is in NxP-local
 * memory, the whole traversal runs on the NxP and calls a host function for every vertex it finds.
 *
 * stdout is the same for every compiler; times go to stderr, with -t only. */
#define _POSIX_C_SOURCE 200809L
#include "graph.h"

#include <errno.h>
#include <flick.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { UNSEEN = -1 };

/* What the host notes for each vertex found. */
typedef struct tally {
  uint64_t *count; /* per level */
  size_t levels, room;
  uint64_t reached;
  uint64_t checksum; /* FNV-1a over number and level of each vertex, in the order they are found */
} tally;

static tally found;

static void mix(uint64_t value) {
  for (int byte = 0; byte < 8; byte++, value >>= 8)
    found.checksum = (found.checksum ^ (value & 0xff)) * 0x100000001b3u;
}

/* The host's work for a vertex. */
FLICK_HOST void found_vertex(uint64_t number, int32_t level) {
  if ((size_t)level == found.levels) {
    if (found.levels == found.room) {
      found.room = found.room ? found.room * 2 : 64;
      found.count = realloc(found.count, found.room * sizeof *found.count);
      if (!found.count)
        fail("not enough memory for %zu levels", found.room);
    }
    found.count[found.levels++] = 0;
  }
  found.count[level]++;
  found.reached++;
  mix(number);
  mix((uint64_t)level);
}

/* The traversal. LEVEL and QUEUE have room for every vertex. */
FLICK_NXP void traverse(const graph *g, vertex source, int32_t *level, vertex *queue) {
  for (size_t v = 0; v < g->vertices; v++)
    level[v] = UNSEEN;
  size_t head = 0, tail = 0;
  level[source] = 0;
  queue[tail++] = source;
  found_vertex(g->number[source], 0);
  while (head < tail) {
    vertex v = queue[head++];
    for (uint64_t e = g->row[v]; e < g->row[v + 1]; e++) {
      vertex next = g->target[e];
      if (level[next] != UNSEEN)
        continue;
      level[next] = level[v] + 1;
      queue[tail++] = next;
      found_vertex(g->number[next], level[next]);
    }
  }
}

_Noreturn void fail(const char *format, ...) {
  va_list arguments;
  fflush(stdout);
  fputs("bfs: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t option_number(int option, const char *text, uint64_t most) {
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (errno || end == text || *end || strchr(text, '-') || value > most)
    fail("-%c %s: not a number from 0 to %" PRIu64, option, text, most);
  return value;
}

/* Copies the rest of the line of NAMES that begins with `number TAB` to stdout, in brackets. */
static void print_name(const char *path, uint64_t number) {
  FILE *names = fopen(path, "r");
  if (!names)
    fail("%s: %s", path, strerror(errno));
  char line[512];
  while (fgets(line, sizeof line, names)) {
    char *end;
    if (strtoull(line, &end, 10) == number && end != line && *end == '\t') {
      printf(" (%.*s)", (int)strcspn(end + 1, "\r\n"), end + 1);
      break;
    }
  }
  fclose(names);
}

static void usage(FILE *out) {
  fprintf(out, "usage: bfs [-n ITERATIONS] [-s VERTEX] [-u] [-l NAMES] [-t] FILE\n"
               "  FILE  a SNAP edge list or a Matrix Market file; - is stdin\n"
               "  -n    traverse so many times (1)\n"
               "  -s    start there, numbered as in the file (the vertex of highest degree)\n"
               "  -u    undirected: every edge leads both ways\n"
               "  -l    a file of lines `number TAB name` to name the source from\n"
               "  -t    print times on stderr\n");
}

int main(int argc, char **argv) {
  uint64_t iterations = 1, source_number = 0;
  int have_source = 0, both_ways = 0, timed = 0, option;
  const char *names = NULL;
  while ((option = getopt(argc, argv, "n:s:ul:th")) != -1) {
    switch (option) {
    case 'n':
      iterations = option_number('n', optarg, UINT32_MAX);
      break;
    case 's':
      source_number = option_number('s', optarg, UINT64_MAX);
      have_source = 1;
      break;
    case 'u':
      both_ways = 1;
      break;
    case 'l':
      names = optarg;
      break;
    case 't':
      timed = 1;
      break;
    case 'h':
      usage(stdout);
      return 0;
    default:
      usage(stderr);
      return 2;
    }
  }
  if (optind != argc - 1) {
    usage(stderr);
    return 2;
  }

  double begin = seconds();
  edge_list list = {0};
  read_graph(argv[optind], &list);
  graph g = make_graph(&list, both_ways);
  double ready = seconds();

  vertex source = busiest(&g);
  if (have_source) {
    size_t at = find_vertex(&g, source_number);
    if (at == g.vertices)
      fail("%s has no vertex %" PRIu64, argv[optind], source_number);
    source = (vertex)at;
  }
  printf("vertices %zu\nedges %zu\n", g.vertices, g.edges);
  printf("source %" PRIu64, g.number[source]);
  if (names)
    print_name(names, g.number[source]);
  printf(", degree %" PRIu64 "\n", g.row[source + 1] - g.row[source]);

  int32_t *level = flick_alloc(FLICK_MEM_NXP, g.vertices * sizeof *level);
  vertex *queue = flick_alloc(FLICK_MEM_NXP, g.vertices * sizeof *queue);
  if (!level || !queue)
    fail("NxP-local memory for %zu vertices: %s", g.vertices, strerror(errno));
  uint64_t first_checksum = 0;
  for (uint64_t i = 0; i < iterations; i++) {
    found.levels = 0;
    found.reached = 0;
    found.checksum = 0xcbf29ce484222325u;
    traverse(&g, source, level, queue);
    if (i > 0 && found.checksum != first_checksum)
      fail("iteration %" PRIu64 " found something else", i + 1);
    first_checksum = found.checksum;
  }
  if (timed)
    fprintf(stderr, "read: %.3f s\ntraversal: %.6f s on average of %" PRIu64 "\n", ready - begin,
            iterations ? (seconds() - ready) / (double)iterations : 0.0, iterations);

  printf("iterations %" PRIu64 "\n", iterations);
  for (size_t l = 0; l < found.levels; l++)
    printf("level %zu: %" PRIu64 "\n", l, found.count[l]);
  printf("reached %" PRIu64 "\nchecksum %016" PRIx64 "\n", found.reached, found.checksum);

  flick_free(level);
  flick_free(queue);
  free(found.count);
  free_graph(&g);
}

/* A graph as compressed sparse rows in NxP-local memory, for the searches of Table IV. A program
 * includes this once. */
#ifndef PAPER_ROWS_H
#define PAPER_ROWS_H

#include "graph.h"
#include "measure.h"

#include <inttypes.h>
#include <string.h>

/* As in Graph500 the rows are globals: `xoff[2 v]` and `xoff[2 v + 1]` are where the neighbours of
 * v begin and end in `xadj`. So the pointers themselves stay in the host's memory (section III.D),
 * and the NxP has to read them from there, over the link.
 *
 * The compiler decides how often. The call of a host function may change globals, so a compiler
 * has to read `xadj` again after a call. GCC, the paper's compiler, does so for every neighbour, at
 * -O1 to -O3. clang moves the load to the place of the call. `volatile` makes clang's code read as
 * often as GCC's. docs/paper.md has the rest. */
static int64_t nv;
static int64_t *restrict xoff;
static int64_t *volatile xadj;

static void *zeroed(size_t count) {
  void *memory = calloc(count ? count : 1, sizeof(int64_t));
  if (!memory)
    fail("not enough memory: %zu MiB", count * sizeof(int64_t) >> 20);
  return memory;
}

static int64_t *on_nxp(size_t count) {
  int64_t *memory = flick_alloc(FLICK_MEM_NXP, (count ? count : 1) * sizeof *memory);
  if (!memory)
    fail("%zu MiB of NxP-local memory: %s", count * sizeof *memory >> 20, strerror(errno));
  return memory;
}

/* Copies an array to NxP memory at once. */
static int64_t *move_to_nxp(int64_t *from, size_t count) {
  int64_t *to = on_nxp(count);
  memcpy(to, from, count * sizeof *from);
  free(from);
  return to;
}

/* Makes the rows: every edge in both directions, without loops, as in Graph500. Unlike there, edges
 * that the file has twice stay twice, because only so the paper's figures fit its numbers of
 * edges. */
static size_t make_rows(edges *graph) {
  size_t vertices = graph->bound;
  int64_t *offset = zeroed(2 * vertices);
  for (size_t i = 0; i < graph->count; i++) {
    edge e = graph->edge[i];
    if (e.from != e.to) {
      offset[2 * (size_t)e.from]++;
      offset[2 * (size_t)e.to]++;
    }
  }
  int64_t entries = 0;
  for (size_t v = 0; v < vertices; v++) {
    int64_t degree = offset[2 * v];
    offset[2 * v] = offset[2 * v + 1] = entries;
    entries += degree;
  }
  int64_t *adjacent = zeroed((size_t)entries);
  for (size_t i = 0; i < graph->count; i++) {
    edge e = graph->edge[i];
    if (e.from != e.to) {
      adjacent[offset[2 * (size_t)e.from + 1]++] = e.to;
      adjacent[offset[2 * (size_t)e.to + 1]++] = e.from;
    }
  }
  free(graph->edge);
  graph->edge = NULL;
  nv = (int64_t)vertices;
  xoff = move_to_nxp(offset, 2 * vertices);
  xadj = move_to_nxp(adjacent, (size_t)entries);
  return (size_t)entries;
}

/* Prints the numbers of neighbours, and returns the vertex with the most neighbours. */
static int64_t print_degrees(size_t vertices, size_t entries) {
  int64_t busiest = 0, most = 0;
  for (int64_t v = 0; v < nv; v++) {
    int64_t degree = xoff[2 * v + 1] - xoff[2 * v];
    if (degree > most) {
      most = degree;
      busiest = v;
    }
  }
  /* Vertices by degree: without those numbers of the file that no edge has. */
  int64_t *count = zeroed((size_t)most + 1);
  for (int64_t v = 0; v < nv; v++)
    count[xoff[2 * v + 1] - xoff[2 * v]]++;
  count[0] -= nv - (int64_t)vertices;
  printf("# degree_mean %.2f\n", (double)entries / (double)vertices);
  static const int shares[] = {10, 50, 90, 99};
  int64_t degree = -1, below = 0;
  for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
    while (below * 100 < (int64_t)vertices * shares[i])
      below += count[++degree];
    printf("# degree_p%d %" PRId64 "\n", shares[i], degree);
  }
  printf("# degree_max %" PRId64 "\n", most);
  free(count);
  return busiest;
}

/* Loads the graph of FILE, or the synthetic one of NAME, and prints facts of it. Returns SOURCE, or
 * the vertex with the most neighbours if that is below 0. */
static int64_t load_rows(const char *file, const char *name, int64_t source) {
  edges graph = file ? read_snap(file) : synthetic(name);
  size_t entries = make_rows(&graph);
  printf("# graph %s\n# vertices %zu\n# edges %zu\n# entries %zu\n", file ? "file" : "synthetic",
         graph.vertices, graph.count, entries);
  int64_t busiest = print_degrees(graph.vertices, entries);
  if (source < 0)
    source = busiest;
  if (source >= nv)
    fail("-s %" PRId64 ": the graph has no such vertex", source);
  printf("# source %" PRId64 "\n", source);
  return source;
}

#endif

/* Table IV of the Flick paper (ISCA 2020), section V.C: breadth-first search as Graph500's
 * sequential reference does it over compressed sparse rows. The graph and the arrays of the search
 * are in NxP-local memory, the whole traversal is a function on the NxP, and it calls a host
 * function for every vertex that it finds.
 *
 *   bfs [-n ITERATIONS] [-s SOURCE] (-f FILE | -g GRAPH)
 *
 *   -f  an edge list of SNAP, plain or packed by gzip
 *   -g  a synthetic graph: epinions, pokec, livejournal (their vertices and edges), or
 *       VERTICES,EDGES
 *   -s  the vertex to begin at; by default the vertex with the most neighbours
 *
 * prints facts of the graph as `# NAME VALUE`, then comma-separated values: seconds of virtual time
 * for each iteration (10). */
#define _GNU_SOURCE
#include "graph.h"
#include "measure.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

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

/* The dummy host function of the paper. The empty statement keeps the optimiser from removing the
 * call. */
FLICK_HOST __attribute__((noinline)) void found(int64_t vertex) {
  __asm__ volatile("" : : "r"(vertex));
}

/* Fills TREE with every vertex's parent, or -1. LIST has room for all vertices. Returns the number
 * of vertices that are reached. */
FLICK_NXP __attribute__((noinline)) int64_t make_bfs_tree(int64_t *restrict tree,
                                                          int64_t *restrict list, int64_t source) {
  int64_t begin = 0, end = 1;
  for (int64_t v = 0; v < nv; v++)
    tree[v] = -1;
  list[0] = source;
  tree[source] = source;
  while (begin != end) {
    int64_t level_end = end;
    for (int64_t k = begin; k < level_end; k++) {
      int64_t v = list[k];
      int64_t row_end = xoff[2 * v + 1];
      for (int64_t row = xoff[2 * v]; row < row_end; row++) {
        int64_t neighbour = xadj[row];
        if (tree[neighbour] == -1) {
          tree[neighbour] = v;
          list[end++] = neighbour;
          found(neighbour);
        }
      }
    }
    begin = level_end;
  }
  return end;
}

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

int main(int argc, char **argv) {
  const char *file = NULL, *name = NULL;
  uint64_t iterations = 10;
  int64_t source = -1;
  int option;
  while ((option = getopt(argc, argv, "n:s:f:g:")) != -1) {
    switch (option) {
    case 'n':
      iterations = number("-n", optarg, 1, 1000000);
      break;
    case 's':
      source = (int64_t)number("-s", optarg, 0, UINT32_MAX);
      break;
    case 'f':
      file = optarg;
      break;
    case 'g':
      name = optarg;
      break;
    default:
      name = file = NULL;
      optind = argc + 1;
    }
  }
  if (optind != argc || !file == !name) {
    fprintf(stderr, "usage: %s [-n ITERATIONS] [-s SOURCE] (-f FILE | -g GRAPH)\n",
            program_invocation_short_name);
    return 2;
  }
  now(); /* says at once that no platform is named */

  edges graph = file ? read_snap(file) : synthetic(name);
  size_t entries = make_rows(&graph);
  printf("# graph %s\n# vertices %zu\n# edges %zu\n# entries %zu\n", file ? "file" : "synthetic",
         graph.vertices, graph.count, entries);
  int64_t busiest = print_degrees(graph.vertices, entries);
  if (source < 0)
    source = busiest;
  if (source >= nv)
    fail("-s %" PRId64 ": the graph has no such vertex", source);
  int64_t *tree = on_nxp((size_t)nv), *list = on_nxp((size_t)nv);
  printf("# source %" PRId64 "\n", source);

  printf("iteration,reached,migrating_s,staying_s\n");
  for (uint64_t iteration = 1; iteration <= iterations; iteration++) {
    prediction begin = now();
    int64_t reached = make_bfs_tree(tree, list, source);
    prediction all = since(begin);
    printf("%" PRIu64 ",%" PRId64 ",%.9f,%.9f\n", iteration, reached,
           (double)all.migrating_ps / 1e12, (double)all.staying_ps / 1e12);
    fflush(stdout);
  }
  flick_free(tree);
  flick_free(list);
  flick_free(xoff);
  flick_free(xadj);
}

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
#include "measure.h"
#include "rows.h"

#include <unistd.h>

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

  source = load_rows(file, name, source);
  int64_t *tree = on_nxp((size_t)nv), *list = on_nxp((size_t)nv);

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

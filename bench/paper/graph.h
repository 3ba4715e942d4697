/* The graphs of Table IV: SNAP's files, or synthetic ones of the same numbers of vertices and
 * edges. */
#ifndef PAPER_GRAPH_H
#define PAPER_GRAPH_H

#include <stddef.h>
#include <stdint.h>

typedef struct edge {
  uint32_t from, to;
} edge;

/* In host memory. */
typedef struct edges {
  edge *edge;
  size_t count;
  uint32_t bound;  /* every vertex is below */
  size_t vertices; /* that have an edge */
} edges;

/* Reads an edge list of SNAP (https://snap.stanford.edu/data/): lines of two vertices, `#` begins a
 * comment. A file that gzip has packed is unpacked by it. On any error these print a message and
 * end the program. */
edges read_snap(const char *path);

/* A connected graph whose degrees follow a power law; the same for the same numbers on every
 * machine. */
edges generate(uint32_t vertices, size_t count, uint64_t seed);

/* NAME is `epinions`, `pokec`, `livejournal`, or `VERTICES,EDGES`. */
edges synthetic(const char *name);

_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

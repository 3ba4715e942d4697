/* A directed graph in compressed sparse rows, in NxP-local memory. */
#ifndef BFS_GRAPH_H
#define BFS_GRAPH_H

#include <stddef.h>
#include <stdint.h>

/* A vertex: its position, 0 to vertices - 1. */
typedef uint32_t vertex;
#define MAX_VERTICES (UINT32_MAX - 1)

typedef struct graph {
  size_t vertices;
  size_t edges;
  uint64_t *row;    /* vertices + 1: the edges of v are target[row[v]] to target[row[v + 1] - 1] */
  vertex *target;   /* edges */
  uint64_t *number; /* vertices: what the file calls it (host memory) */
} graph;

/* Edges and vertices as they are read, before the rows are made; host memory. */
typedef struct edge_list {
  struct edge {
    vertex from, to;
  } *edge;
  size_t edges, edge_room;
  uint64_t *number; /* vertex to number */
  size_t vertices, vertex_room;
  struct slot *slot; /* number to vertex: an open-addressing table */
  size_t slots;
} edge_list;

/* Makes or finds the vertex of a number. On any lack of memory these print a message and exit. */
vertex intern(edge_list *list, uint64_t number);
void add_edge(edge_list *list, vertex from, vertex to);

/* Makes the rows, releases the list. BOTH_WAYS adds the reverse of every edge that is not a loop.
 */
graph make_graph(edge_list *list, int both_ways);
void free_graph(graph *g);

/* The vertex with the most outgoing edges; of several, the first. */
vertex busiest(const graph *g);
/* The vertex of a number; vertices if there is none. */
size_t find_vertex(const graph *g, uint64_t number);

/* Reads a SNAP edge list or a Matrix Market file; PATH "-" is stdin. Prints FILE:LINE and exits on
 * what it does not understand. */
void read_graph(const char *path, edge_list *list);

_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

#include "graph.h"

#include <errno.h>
#include <flick.h>
#include <stdlib.h>
#include <string.h>

struct slot {
  uint64_t number;
  uint64_t vertex_plus_one; /* 0: free */
};

static void *grow(void *memory, size_t *room, size_t element) {
  size_t want = *room ? *room * 2 : 1024;
  void *grown = want > SIZE_MAX / element ? NULL : realloc(memory, want * element);
  if (!grown)
    fail("not enough memory for the edge list (%zu entries)", want);
  *room = want;
  return grown;
}

/* Multiplicative hashing: numbers with a common stride must not share a slot. */
static size_t slot_of(const edge_list *list, uint64_t number) {
  size_t mask = list->slots - 1;
  size_t at = (size_t)((number * 0x9e3779b97f4a7c15u) >> 20) & mask;
  while (list->slot[at].vertex_plus_one && list->slot[at].number != number)
    at = (at + 1) & mask;
  return at;
}

static void double_slots(edge_list *list) {
  list->slots = list->slots ? list->slots * 2 : 4096;
  free(list->slot);
  list->slot = calloc(list->slots, sizeof *list->slot);
  if (!list->slot)
    fail("not enough memory for %zu vertex numbers", list->slots);
  for (size_t v = 0; v < list->vertices; v++)
    list->slot[slot_of(list, list->number[v])] = (struct slot){list->number[v], v + 1};
}

vertex intern(edge_list *list, uint64_t number) {
  if (list->vertices * 2 >= list->slots)
    double_slots(list);
  size_t at = slot_of(list, number);
  if (!list->slot[at].vertex_plus_one) {
    if (list->vertices == MAX_VERTICES)
      fail("more than %lu vertices", (unsigned long)MAX_VERTICES);
    if (list->vertices == list->vertex_room)
      list->number = grow(list->number, &list->vertex_room, sizeof *list->number);
    list->number[list->vertices++] = number;
    list->slot[at] = (struct slot){number, list->vertices};
  }
  return (vertex)(list->slot[at].vertex_plus_one - 1);
}

void add_edge(edge_list *list, vertex from, vertex to) {
  if (list->edges == list->edge_room)
    list->edge = grow(list->edge, &list->edge_room, sizeof *list->edge);
  list->edge[list->edges++] = (struct edge){from, to};
}

static void *nxp_memory(size_t count, size_t element) {
  void *memory = flick_alloc(FLICK_MEM_NXP, count ? count * element : 1);
  if (!memory)
    fail("%zu bytes of NxP-local memory: %s", count * element, strerror(errno));
  return memory;
}

graph make_graph(edge_list *list, int both_ways) {
  graph g = {.vertices = list->vertices, .edges = list->edges, .number = list->number};
  if (both_ways)
    for (size_t i = 0; i < list->edges; i++)
      g.edges += list->edge[i].from != list->edge[i].to;

  g.row = nxp_memory(g.vertices + 1, sizeof *g.row);
  g.target = nxp_memory(g.edges, sizeof *g.target);
  /* Count into row[v + 1], sum up, then fill with row[v] as the cursor, which shifts rows by one.
   */
  memset(g.row, 0, (g.vertices + 1) * sizeof *g.row);
  for (size_t i = 0; i < list->edges; i++) {
    struct edge e = list->edge[i];
    g.row[e.from + 1]++;
    if (both_ways && e.from != e.to)
      g.row[e.to + 1]++;
  }
  for (size_t v = 0; v < g.vertices; v++)
    g.row[v + 1] += g.row[v];
  for (size_t i = 0; i < list->edges; i++) {
    struct edge e = list->edge[i];
    g.target[g.row[e.from]++] = e.to;
    if (both_ways && e.from != e.to)
      g.target[g.row[e.to]++] = e.from;
  }
  memmove(g.row + 1, g.row, g.vertices * sizeof *g.row);
  g.row[0] = 0;

  free(list->edge);
  free(list->slot);
  *list = (edge_list){0};
  return g;
}

void free_graph(graph *g) {
  flick_free(g->row);
  flick_free(g->target);
  free(g->number);
  *g = (graph){0};
}

vertex busiest(const graph *g) {
  vertex best = 0;
  uint64_t most = 0;
  for (size_t v = 0; v < g->vertices; v++) {
    uint64_t degree = g->row[v + 1] - g->row[v];
    if (degree > most) {
      most = degree;
      best = (vertex)v;
    }
  }
  return best;
}

size_t find_vertex(const graph *g, uint64_t number) {
  size_t v = 0;
  while (v < g->vertices && g->number[v] != number)
    v++;
  return v;
}

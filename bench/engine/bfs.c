/* Breadth-first search over the demo's graph: the packages of Debian and what they depend on. */
#include "kernel.h"

/* Lines `FROM TO`, and comments that begin with #. GRAPH names another file of the kind. */
#ifndef GRAPH
#define GRAPH "debian-sample.txt"
#endif
static const unsigned char text[] = {
#embed GRAPH
};

enum { MOST = 1 << 20, UNSEEN = -1 };
static uint32_t numbers[2 * MOST]; /* both ends of each edge, as in the text */
static uint32_t vertex_of[MOST];   /* by number, counted from 1; 0: none yet */
static uint32_t first[MOST + 1];   /* index of a vertex's first edge */
static uint32_t to[MOST], queue[MOST];
static int32_t level[MOST];
static uint32_t vertices, edges;

static uint32_t vertex(uint32_t number) {
  if (!vertex_of[number])
    vertex_of[number] = ++vertices;
  return vertex_of[number] - 1;
}

static void read_graph(void) {
  size_t at = 0, seen = 0;
  while (at < sizeof text) {
    if (text[at] == '#') {
      while (at < sizeof text && text[at] != '\n')
        at++;
    } else if (text[at] >= '0' && text[at] <= '9') {
      uint32_t number = 0;
      for (; at < sizeof text && text[at] >= '0' && text[at] <= '9'; at++)
        number = (number * 10 + text[at] - '0') % MOST;
      if (seen < 2 * (size_t)MOST)
        numbers[seen++] = number;
    } else {
      at++;
    }
  }
  edges = (uint32_t)(seen / 2);
  for (uint32_t i = 0; i < 2 * edges; i++)
    numbers[i] = vertex(numbers[i]);
  for (uint32_t i = 0; i < edges; i++)
    first[numbers[2 * i] + 1]++;
  for (uint32_t v = 0; v < vertices; v++)
    first[v + 1] += first[v];
  for (uint32_t i = edges; i > 0; i--) {
    uint32_t from = numbers[2 * i - 2];
    to[first[from] + (uint32_t)level[from]++] = numbers[2 * i - 1];
  }
}

static uint64_t traverse(uint32_t source) {
  for (uint32_t v = 0; v < vertices; v++)
    level[v] = UNSEEN;
  uint32_t head = 0, tail = 0;
  uint64_t checksum = 0;
  level[source] = 0;
  queue[tail++] = source;
  while (head < tail) {
    uint32_t from = queue[head++];
    checksum = fold(checksum, (uint64_t)level[from]);
    for (uint32_t edge = first[from]; edge < first[from + 1]; edge++) {
      uint32_t found = to[edge];
      if (level[found] == UNSEEN) {
        level[found] = level[from] + 1;
        queue[tail++] = found;
      }
    }
  }
  return fold(checksum, tail);
}

uint64_t bfs(uint64_t work) {
  uint64_t checksum = 0;
  if (!edges)
    read_graph();
  for (uint64_t i = 0; i < work; i++)
    checksum = fold(checksum, traverse((uint32_t)(i % vertices)));
  return checksum;
}

/* Table IV of the Flick paper (ISCA 2020) by several threads: a breadth-first search in levels, as
 * Graph500's reference for OpenMP does it. The threads share each level, claim a vertex by an
 * atomic access, and meet behind the level. Each executes its part of the whole traversal on the
 * NxP, and calls a host function for every vertex that it finds.
 *
 *   bfs-threads [-t THREADS] [-s SOURCE] (-f FILE | -g GRAPH)
 *
 * Graphs and output are those of bfs.c, with one iteration. */
#define _GNU_SOURCE
#include "measure.h"
#include "rows.h"
#include "workers.h"

#include <unistd.h>

static int64_t *tree, *list;
/* Vertices in LIST. */
static int64_t *end;
static int64_t source = -1;
static uint64_t threads = 1;
static pthread_barrier_t level;

/* The dummy host function of the paper. */
FLICK_HOST __attribute__((noinline)) void found(int64_t vertex) {
  __asm__ volatile("" : : "r"(vertex));
}

FLICK_HOST __attribute__((noinline)) void meet(void) { pthread_barrier_wait(&level); }

/* The part of thread OWN of OF. */
FLICK_NXP __attribute__((noinline)) void search(int64_t *tree, int64_t *list, int64_t *end,
                                                int64_t source, int64_t own, int64_t of) {
  for (int64_t v = own; v < nv; v += of)
    tree[v] = -1;
  meet();
  if (own == 0) {
    list[0] = source;
    tree[source] = source;
    *end = 1;
  }
  for (int64_t begin = 0;;) {
    meet();
    const int64_t level_end = *end;
    if (begin == level_end)
      return;
    /* Nobody adds to the list before all know where the level ends. */
    meet();
    for (int64_t k = begin + own; k < level_end; k += of) {
      const int64_t v = list[k];
      const int64_t row_end = xoff[2 * v + 1];
      for (int64_t row = xoff[2 * v]; row < row_end; row++) {
        const int64_t neighbour = xadj[row];
        int64_t none = -1;
        if (tree[neighbour] == none &&
            __atomic_compare_exchange_n(&tree[neighbour], &none, v, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
          list[__atomic_fetch_add(end, 1, __ATOMIC_RELAXED)] = neighbour;
          found(neighbour);
        }
      }
    }
    begin = level_end;
  }
}

static void part(size_t number) {
  search(tree, list, end, source, (int64_t)number, (int64_t)threads);
}

int main(int argc, char **argv) {
  const char *file = NULL, *name = NULL;
  int option;
  while ((option = getopt(argc, argv, "t:s:f:g:")) != -1) {
    switch (option) {
    case 't':
      threads = number("-t", optarg, 1, MOST);
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
    fprintf(stderr, "usage: %s [-t THREADS] [-s SOURCE] (-f FILE | -g GRAPH)\n",
            program_invocation_short_name);
    return 2;
  }
  now(); /* says at once that no platform is named */

  source = load_rows(file, name, source);
  tree = on_nxp((size_t)nv), list = on_nxp((size_t)nv), end = on_nxp(1);
  pthread_barrier_init(&level, NULL, (unsigned)threads);
  prediction all = at_once(threads, part);
  printf("iteration,reached,migrating_s,staying_s\n1,%" PRId64 ",%.9f,%.9f\n", *end,
         (double)all.migrating_ps / 1e12, (double)all.staying_ps / 1e12);
  flick_free(tree);
  flick_free(list);
  flick_free(end);
  flick_free(xoff);
  flick_free(xadj);
}

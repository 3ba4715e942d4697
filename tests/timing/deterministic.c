// Host code, NxP code, both heaps, accesses of each side to the other's memory, calls both ways,
// libraries, and code that computes with addresses.
#include <flick.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
  struct item *next;
  long value;
  char name[16];
};

FLICK_NXP_DATA static long marked[64];

FLICK_HOST __attribute__((noinline)) static long on_host(struct item *item) {
  char text[32];
  snprintf(text, sizeof text, "%ld", item->value);
  return (long)strlen(text) + item->value % 7;
}

// It takes as long as the number of a page is large.
FLICK_HOST __attribute__((noinline)) static void by_address(const void *at) {
  static volatile uintptr_t number;
  for (uintptr_t left = (uintptr_t)at >> 12 & 4095; left > 0; left--)
    number ^= left;
}

FLICK_NXP __attribute__((noinline)) static long walk(struct item *at, long *stack) {
  long sum = 0;
  for (; at; at = at->next) {
    sum += at->value ^ *stack;
    marked[at->value & 63]++;
    if (at->value % 16 == 0)
      sum += on_host(at);
  }
  return sum;
}

FLICK_NXP __attribute__((noinline)) static struct item *make(int count) {
  struct item *first = NULL;
  for (int i = 0; i < count; i++) {
    struct item *item = malloc(sizeof *item);
    *item = (struct item){first, (i * 7919L) % 1000, "nxp"};
    first = item;
  }
  return first;
}

static int compare(const void *a, const void *b) {
  long x = *(const long *)a, y = *(const long *)b;
  return (x > y) - (x < y);
}

int main(void) {
  long on_stack = 5, sum = 0;
  struct item *host = NULL;
  for (int i = 0; i < 500; i++) {
    struct item *item = malloc(sizeof *item + i % 3 * 24);
    *item = (struct item){host, i * 31 % 977, "host"};
    host = item;
    if (i % 50 == 0)
      printf("%d\n", i);
  }
  struct item *nxp = make(500);
  sum += walk(host, &on_stack) + walk(nxp, &on_stack);
  long sorted[200];
  for (int i = 0; i < 200; i++, nxp = nxp->next)
    sorted[i] = nxp->value;
  qsort(sorted, 200, sizeof *sorted, compare);
  for (int i = 0; i < 64; i++)
    sum += marked[i] * sorted[i * 3];
  void *mapped = malloc(1 << 20);
  by_address(host);
  by_address(mapped);
  by_address(&marked);
  by_address((const void *)(uintptr_t)main);
  printf("%ld\n", sum);
}

// The report of a fault in NxP code names the functions as the author wrote them: inlined ones, the
// callers on the NxP, and the host's calls between them.
// EXIT: signal SEGV
// ERR: SIGSEGV in NxP code: access to 0x8 at 0x
// ERR: in next_of (
// ERR: next_of at
// ERR: report_frames.c:26 (inlined by)
// ERR: second_of at
// ERR: report_frames.c:27 (inlined by)
// ERR: walk+0x
// ERR: called by the host through the gate of walk
// ERR: middle+0x
// ERR: outer+0x
// ERR: called by the host through the gate of outer
// CFLAGS: -gdwarf-4
// SKIP-MODE: O0 nothing is inlined
// SKIP-RANDOM: the calls are another's
#include <flick.h>
#include <stdio.h>

struct node {
  long value;
  struct node *next;
};

static inline struct node *next_of(struct node *n) { return n->next; }
static inline struct node *second_of(struct node *n) { return next_of(next_of(n)); }

FLICK_NXP long walk(struct node *n) { return second_of(n)->value; }
FLICK_HOST __attribute__((noinline)) long host(struct node *n) { return walk(n) + 1; }
FLICK_NXP __attribute__((noinline)) long middle(struct node *n) { return host(n) + 1; }
FLICK_NXP long outer(struct node *n) {
  long a = middle(n);
  return a + middle(n);
}

int main(void) {
  struct node one = {1, 0};
  printf("never: %ld\n", outer(&one));
  return 0;
}
// DWARF 4, because valgrind 3.19 reads no program of two units in clang 19's DWARF 5.

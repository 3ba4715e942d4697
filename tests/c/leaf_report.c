// A leaf that the host calls within NxP code faults. The report names the leaf and its line, and
// the NxP's calls on both sides of the host's.
// EXIT: signal SEGV
// ERR: [FLK0501] SIGSEGV in NxP code: access to 0x10 at 0x
// ERR: in third_of (
// ERR: leaf_report.c:27)
// ERR:  a0   0000000000000000
// ERR: third_of at
// ERR: leaf_report.c:27 (inlined by)
// ERR: leaf+0x
// ERR: leaf_report.c:28
// ERR: called by the host through the gate of leaf
// ERR: outer+0x
// ERR: called by the host through the gate of outer
// CFLAGS: -gdwarf-4
// SKIP-MODE: O0 nothing is inlined
// SKIP-RANDOM: the calls are another's
#include <flick.h>
#include <stdio.h>

struct triple {
  long first, second, third;
};

#define SEPARATE __attribute__((noinline))

static inline long third_of(const struct triple *t) { return t->third; }
FLICK_NXP SEPARATE long leaf(const struct triple *t) { return third_of(t); }
FLICK_HOST SEPARATE long host(const struct triple *t) { return leaf(t) + 1; }
FLICK_NXP SEPARATE long outer(const struct triple *t) { return host(t) + host(t + 1); }

int main(void) {
  struct triple two[2] = {{1, 2, 3}, {4, 5, 6}};
  printf("%ld\n", outer(two));
  printf("never: %ld\n", outer(NULL));
}
// DWARF 4, because valgrind 3.19 reads no program of two units in clang 19's DWARF 5.

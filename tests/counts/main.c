/* What is counted by run.sh under callgrind: each piece once to warm up, then once with
 * instrumentation. Without arguments all of them, each as a dump with its name and the number of
 * calls; `main KERNEL TIMES` is for counting a kernel's instructions by the interpreter. */
#include "../../bench/engine/kernel.h"
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

/* The empty statement keeps the optimiser from removing calls of an empty function. */
#define NULL_BODY __asm__ volatile("")
#define SEPARATE __attribute__((noinline))

enum { CALLS = 1000, LEVELS = 8 };

typedef void null_function(void);

FLICK_HOST SEPARATE void null_on_host(void) { NULL_BODY; }
/* Leaves run on the host's stack, without a crossing. */
FLICK_NXP SEPARATE void null_leaf(void) { NULL_BODY; }
FLICK_NXP SEPARATE double mixed_leaf(long a, double b, int c, double d) {
  return (double)a + b * c - d;
}
FLICK_NXP SEPARATE long load_leaf(const long *from) { return *from; }
/* A variable on the NxP's stack makes a function no such leaf. */
FLICK_NXP SEPARATE void null_on_nxp(void) { volatile long here = 0; }
FLICK_NXP SEPARATE double mixed(long a, double b, int c, double d) {
  volatile long here = a;
  return (double)here + b * c - d;
}
FLICK_NXP SEPARATE float boxed(float a) { return a + 1; }
FLICK_NXP SEPARATE long on_stack(long a, long b, long c, long d, long e, long f, long g, long h) {
  return a + b + c + d + e + f + g + h;
}

typedef struct {
  long x, y, z;
} triple;
FLICK_NXP SEPARATE long with_struct(long a, triple b, double c) { return a + b.z + (long)c; }
FLICK_HOST SEPARATE float boxed_on_host(float a) { return a + 1; }
FLICK_HOST SEPARATE long stack_on_host(long a, long b, long c, long d, long e, long f, long g,
                                       long h) {
  return a + b + c + d + e + f + g + h;
}
FLICK_HOST SEPARATE long struct_on_host(long a, triple b, double c) { return a + b.z + (long)c; }

static inline null_function *hidden(null_function *function) {
  __asm__("" : "+r"(function));
  return function;
}

static void plain(void) {
  for (int call = 0; call < CALLS; call++)
    null_on_host();
}
static void leaf(void) {
  for (int call = 0; call < CALLS; call++)
    null_leaf();
}
static void leaf_pointer(void) {
  null_function *function = hidden(null_leaf);
  for (int call = 0; call < CALLS; call++)
    function();
}
static long loaded = 1;
static void leaf_load(void) {
  for (int call = 0; call < CALLS; call++)
    load_leaf(&loaded);
}
static volatile double seen;
static void leaf_arguments(void) {
  for (int call = 0; call < CALLS; call++)
    seen = mixed_leaf(call, 2.5, 3, 4.5);
}
static void gate(void) {
  for (int call = 0; call < CALLS; call++)
    null_on_nxp();
}
static void pointer(void) {
  null_function *function = hidden(null_on_nxp);
  for (int call = 0; call < CALLS; call++)
    function();
}
static void arguments(void) {
  for (int call = 0; call < CALLS; call++)
    seen = mixed(call, 2.5, 3, 4.5);
}
static void floats(void) {
  for (int call = 0; call < CALLS; call++)
    seen = boxed((float)call);
}
static void stack(void) {
  for (int call = 0; call < CALLS; call++)
    seen = (double)on_stack(call, 2, 3, 4, 5, 6, 7, 8);
}

static void structs(void) {
  triple argument = {1, 2, 3};
  for (int call = 0; call < CALLS; call++)
    seen = (double)with_struct(call, argument, 1);
}
FLICK_NXP SEPARATE float calls_boxed(void) {
  float sum = 0;
  for (int call = 0; call < CALLS; call++)
    sum += boxed_on_host(sum);
  return sum;
}
FLICK_NXP SEPARATE long calls_stack(void) {
  long sum = 0;
  for (int call = 0; call < CALLS; call++)
    sum += stack_on_host(call, 2, 3, 4, 5, 6, 7, 8);
  return sum;
}
FLICK_NXP SEPARATE long calls_struct(triple *argument) {
  long sum = 0;
  for (int call = 0; call < CALLS; call++)
    sum += struct_on_host(call, *argument, 1);
  return sum;
}
static void floats_to_host(void) { seen = calls_boxed(); }
static void stack_to_host(void) { seen = (double)calls_stack(); }
static void structs_to_host(void) {
  triple argument = {1, 2, 3};
  seen = (double)calls_struct(&argument);
}

FLICK_NXP SEPARATE void back_by_name(void) {
  for (int call = 0; call < CALLS; call++)
    null_on_host();
}
FLICK_NXP SEPARATE void calls_through(null_function *function) {
  for (int call = 0; call < CALLS; call++)
    function();
}
static void back_by_pointer(void) { calls_through(hidden(null_on_host)); }

/* Without a prototype, and to the NxP again. */
typedef long unknown_function();
FLICK_NXP SEPARATE long sum_of_mixed(long a, double b, int c) { return a + (long)b + c; }
FLICK_NXP SEPARATE void calls_unknown(unknown_function *function) {
  long sum = 0;
  for (int call = 0; call < CALLS; call++)
    sum = function(sum, 1.5, call);
  seen = (double)sum;
}
static void unprototyped(void) {
  calls_unknown((unknown_function *)hidden((null_function *)sum_of_mixed));
}

/* What clang has one instruction or a few for: each of these a conversion or more. */
FLICK_NXP SEPARATE double converts(uint64_t from) {
  double sum = 0;
  for (uint64_t call = from; call < from + CALLS; call++) {
    double x = (double)(call << 52 | call) + 0.5 * (double)(uint32_t)call;
    float y = (float)(call << 40) - (float)(uint32_t)~call;
    sum += (double)(uint64_t)x + (double)(uint32_t)(y * 0x1p-40f);
    sum += (double)(int)__builtin_floor(sum * 0x1p-60) + __builtin_round(sum * 0.125) +
           __builtin_rintf(y);
  }
  return sum;
}
static void conversions(void) { seen = converts(1); }

/* Each level goes to the host and from there to the NxP again. */
FLICK_HOST void level_on_host(int further);
FLICK_NXP SEPARATE void level_on_nxp(int further) {
  if (further > 0)
    level_on_host(further);
  NULL_BODY;
}
FLICK_HOST SEPARATE void level_on_host(int further) {
  level_on_nxp(further - 1);
  NULL_BODY;
}
static void levels(void) {
  for (int call = 0; call < CALLS / LEVELS; call++)
    level_on_nxp(LEVELS);
}

static const struct {
  const char *name;
  null_function *run;
} crossings[] = {
    {"plain-call", plain},
    {"leaf", leaf},
    {"leaf-pointer", leaf_pointer},
    {"leaf-load", leaf_load},
    {"leaf-arguments", leaf_arguments},
    {"host-nxp-host", gate},
    {"host-nxp-host-pointer", pointer},
    {"arguments", arguments},
    {"float-argument", floats},
    {"stack-arguments", stack},
    {"struct-argument", structs},
    {"float-to-host", floats_to_host},
    {"stack-to-host", stack_to_host},
    {"struct-to-host", structs_to_host},
    {"nxp-host-nxp", back_by_name},
    {"nxp-host-nxp-pointer", back_by_pointer},
    {"level", levels},
    {"unprototyped", unprototyped},
    {"conversions", conversions},
};

/* With work for about a million instructions. */
static const struct {
  const char *name;
  kernel_function *run;
  uint64_t work;
} kernels[] = {
    {"integer", integer, 30},      {"recursion", recursion, 2},
    {"indirect", indirect, 10000}, {"chase_cache", chase_cache, 100000},
    {"crc32", crc32, 2},           {"sort", sort, 1},
    {"sha256", sha256, 150},       {"matrix", matrix, 1},
    {"nbody", nbody, 500},         {"bfs", bfs, 20},
    {"bytecode", bytecode, 1},     {"strings", strings, 1},
    {"hashing", hashing, 1},       {"mix", mix, 1},
};

#define LENGTH(table) (sizeof(table) / sizeof *(table))

/* The name of a dump is all that it has room for. */
static void dump(const char *name, unsigned calls) {
  char text[64];
  snprintf(text, sizeof text, "%s %u", name, calls);
  CALLGRIND_STOP_INSTRUMENTATION;
  CALLGRIND_DUMP_STATS_AT(text);
}

int main(int argc, char **argv) {
  if (argc > 2) {
    for (size_t k = 0; k < LENGTH(kernels); k++)
      if (!strcmp(argv[1], kernels[k].name))
        for (int times = atoi(argv[2]); times; times--)
          kernels[k].run(kernels[k].work);
    return 0;
  }
  for (size_t c = 0; c < LENGTH(crossings); c++) {
    crossings[c].run();
    CALLGRIND_START_INSTRUMENTATION;
    crossings[c].run();
    dump(crossings[c].name, CALLS);
  }
  for (size_t k = 0; k < LENGTH(kernels); k++) {
    uint64_t first = kernels[k].run(kernels[k].work);
    CALLGRIND_START_INSTRUMENTATION;
    uint64_t second = kernels[k].run(kernels[k].work);
    dump(kernels[k].name, 0);
    if (first != second)
      return 1;
  }
}

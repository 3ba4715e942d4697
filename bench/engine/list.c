/* The kernels of this directory, with work for some ten milliseconds on a host. */
#include "list.h"

/* Only some of them may be linked. */
__attribute__((weak)) extern kernel_function integer, recursion, indirect, chase_cache,
    chase_memory, crc32, sort, sha256, matrix, nbody, bfs, bytecode, strings, hashing, mix;

const kernel kernels[] = {
    {"integer", integer, 10000},
    {"recursion", recursion, 40},
    {"indirect", indirect, 600000},
    {"chase_cache", chase_cache, 4000000},
    {"chase_memory", chase_memory, 60000},
    {"crc32", crc32, 800},
    {"sort", sort, 10},
    {"sha256", sha256, 20000},
    {"matrix", matrix, 12},
    {"nbody", nbody, 70000},
    {"bfs", bfs, 3000},
    {"bytecode", bytecode, 40},
    {"strings", strings, 250},
    {"hashing", hashing, 50},
    {"mix", mix, 150},
    {NULL, NULL, 0},
};

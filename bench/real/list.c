/* The kernels of this directory, with work for some tens of milliseconds on a host. */
#include "../engine/list.h"
#include "real.h"

#include <stdio.h>
#include <stdlib.h>

const kernel kernels[] = {
    {"lua_calls", lua_calls, 12},
    {"lua_tables", lua_tables, 6},
    {"lua_strings", lua_strings, 40},
    {"lua_floats", lua_floats, 12},
    {"sqlite_fill", sqlite_fill, 3},
    {"sqlite_query", sqlite_query, 2},
    {"sqlite_text", sqlite_text, 3},
    {"zstd_1", zstd_1, 8},
    {"zstd_3", zstd_3, 4},
    {"zstd_19", zstd_19, 1},
    {"zstd_unpack", zstd_unpack, 20},
    {NULL, NULL, 0},
};

void failed(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

/* Kernels of `bench/real.sh`: real programs, each at work on data in its file. */
#ifndef REAL_H
#define REAL_H

#include "../engine/kernel.h"

kernel_function lua_calls, lua_tables, lua_strings, lua_floats, sqlite_fill, sqlite_query,
    sqlite_text, zstd_1, zstd_3, zstd_19, zstd_unpack;

/* Says why and ends the program: there is no result. */
_Noreturn void failed(const char *what, const char *why);

#endif

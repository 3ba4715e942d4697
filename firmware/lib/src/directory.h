// The directory of a program, from which names of files go that do not begin with a slash.
#pragma once
#include <stddef.h>

#include "server_protocol.h"

// The path from the root on: the same, or what `buffer` has then. NULL: it is too long.
const char *__card_full_path(const char *path, char buffer[PATH_SIZE]);
// Adds parts of a path to one of `size` bytes without `.` and `..`. NULL: it is too long.
const char *__card_add_parts(char buffer[PATH_SIZE], size_t size, const char *path);
// The directory, without a slash at its end: the root is empty. Returns its bytes.
size_t __card_copy_directory(char buffer[PATH_SIZE]);
void __card_set_directory(const char *path);

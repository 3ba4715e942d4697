// The archive of files that the machine has started with.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// Calls a function for each file and directory. The data stay, and cannot be stored to.
void __card_read_archive(void (*add)(const char *name, bool is_directory, char *data, size_t size));

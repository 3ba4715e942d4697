// The console as files 0, 1 and 2.
#pragma once
#include <stdbool.h>
#include <sys/types.h>

ssize_t __card_console_read(void *buffer, size_t size);
ssize_t __card_console_write(const void *bytes, size_t size);
// Does a read return at once?
bool __card_console_ready(void);

#include "register.h"

char *__flick_heap_strdup(const char *text);

__attribute__((constructor)) static void start(void) { register_module(); }

char *text(void) { return __flick_heap_strdup("ok"); }

/* Children that end by exit: each appends its own record to the statistics. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "register.h"

void *__flick_heap_malloc(size_t size);

int main(void) {
  register_module();
  memset(__flick_heap_malloc(1 << 20), 1, 1 << 20);
  for (int i = 0; i < 8; i++) {
    if (fork() == 0) {
      memset(__flick_heap_malloc(2 << 20), 1, 2 << 20);
      exit(0);
    }
  }
  int failed = 0, status;
  while (wait(&status) > 0)
    failed |= status;
  return failed != 0;
}

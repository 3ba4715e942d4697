/* Blocks of the NxP heap in a C program: made by the functions that NxP code calls, freed and
 * resized by functions that know nothing of Flick. Argument: "nxp" or "host", the heap that must
 * serve them. Built by malloc.rs here and in ../../static/tests. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "register.h"

void *__flick_heap_malloc(size_t size);
void *__flick_heap_calloc(size_t count, size_t size);
void *__flick_heap_realloc(void *block, size_t size);
void *__flick_heap_reallocarray(void *block, size_t count, size_t size);
void __flick_heap_free(void *block);
void *__flick_heap_aligned_alloc(size_t align, size_t size);
void *__flick_heap_memalign(size_t align, size_t size);
int __flick_heap_posix_memalign(void **block, size_t align, size_t size);
void *__flick_heap_valloc(size_t size);
void *__flick_heap_pvalloc(size_t size);
char *__flick_heap_strdup(const char *text);
char *__flick_heap_strndup(const char *text, size_t size);
void *flick_alloc(int kind, size_t size);
void flick_free(void *block);
int flick_is_nxp_memory(const void *address);

#define CHECK(x)                                                                                   \
  do {                                                                                             \
    if (!(x)) {                                                                                    \
      fprintf(stderr, "line %d: %s\n", __LINE__, #x);                                              \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static int nxp; /* what flick_is_nxp_memory must say of these blocks */

static void one_heap_two_names(void) {
  char *p = flick_alloc(1, 100);
  CHECK(p && flick_is_nxp_memory(p) == nxp && (uintptr_t)p % 16 == 0);
  CHECK(malloc_usable_size(p) >= 100);
  strcpy(p, "text");
  p = realloc(p, 100000);
  CHECK(p && !strcmp(p, "text") && flick_is_nxp_memory(p) == nxp);
  p = __flick_heap_realloc(p, 10);
  CHECK(p && !strcmp(p, "text"));
  p = reallocarray(p, 30, 1000);
  CHECK(p && !strcmp(p, "text") && flick_is_nxp_memory(p) == nxp);
  free(p);

  /* A host block stays one. */
  char *h = malloc(50);
  CHECK(!flick_is_nxp_memory(h));
  strcpy(h, "host");
  h = __flick_heap_realloc(h, 500);
  CHECK(h && !strcmp(h, "host") && !flick_is_nxp_memory(h));
  __flick_heap_free(h);
  h = flick_alloc(0, 8);
  CHECK(h && !flick_is_nxp_memory(h));
  flick_free(h);

  free(NULL);
  __flick_heap_free(NULL);
  p = __flick_heap_realloc(NULL, 10);
  CHECK(p && flick_is_nxp_memory(p) == nxp);
  CHECK(__flick_heap_realloc(p, 0) == NULL);
  errno = 0;
  CHECK(!flick_alloc(2, 8) && errno == EINVAL);
}

static void all_functions(void) {
  char *blocks[8];
  blocks[0] = __flick_heap_strdup("a string");
  CHECK(!strcmp(blocks[0], "a string"));
  blocks[1] = __flick_heap_strndup("a string", 3);
  CHECK(!strcmp(blocks[1], "a s"));
  blocks[2] = __flick_heap_calloc(10, 100);
  for (int i = 0; i < 1000; i++)
    CHECK(blocks[2][i] == 0);
  blocks[3] = __flick_heap_aligned_alloc(64, 128);
  CHECK((uintptr_t)blocks[3] % 64 == 0);
  blocks[4] = __flick_heap_memalign(2 << 20, 10);
  CHECK((uintptr_t)blocks[4] % (2 << 20) == 0);
  blocks[5] = __flick_heap_valloc(10);
  CHECK((uintptr_t)blocks[5] % 4096 == 0);
  blocks[6] = __flick_heap_pvalloc(10);
  CHECK((uintptr_t)blocks[6] % 4096 == 0 && malloc_usable_size(blocks[6]) >= 4096);
  void *block;
  CHECK(__flick_heap_posix_memalign(&block, 24, 10) == EINVAL);
  CHECK(__flick_heap_posix_memalign(&block, 4, 10) == EINVAL);
  CHECK(__flick_heap_posix_memalign(&block, 4096, 10) == 0);
  CHECK((uintptr_t)block % 4096 == 0);
  blocks[7] = block;
  for (int i = 0; i < 8; i++) {
    CHECK(flick_is_nxp_memory(blocks[i]) == nxp);
    free(blocks[i]);
  }
  void *a = __flick_heap_malloc(0), *b = __flick_heap_malloc(0);
  CHECK(a && b && a != b);
  free(a);
  free(b);
  if (!nxp)
    return; /* memcheck reports such sizes */
  errno = 0;
  CHECK(!__flick_heap_malloc(PTRDIFF_MAX) && errno == ENOMEM);
  CHECK(!__flick_heap_calloc(SIZE_MAX / 2, 4));
  CHECK(!__flick_heap_reallocarray(NULL, SIZE_MAX / 2, 4));
  CHECK(!reallocarray(NULL, SIZE_MAX / 2, 4));
}

/* getline resizes a buffer that it did not allocate. */
static void library_resizes(void) {
  FILE *file = tmpfile();
  for (int i = 0; i < 5000; i++)
    fputc('x', file);
  fputc('\n', file);
  rewind(file);
  size_t size = 4;
  char *line = __flick_heap_malloc(size);
  CHECK(getline(&line, &size, file) == 5001 && size >= 5002 && malloc_usable_size(line) >= size);
  CHECK(flick_is_nxp_memory(line) == nxp);
  free(line);
  fclose(file);
}

static void *churn(void *seed) {
  uint32_t random = (uint32_t)(uintptr_t)seed * 7919 + 1;
  void *kept[64] = {0};
  for (int i = 0; i < 20000; i++) {
    random = random * 1103515245 + 12345;
    unsigned k = random >> 16 & 63;
    size_t size = (size_t)1 << (random >> 8) % 15;
    if (kept[k] && random & 0x1000) {
      kept[k] = random & 0x2000 ? realloc(kept[k], size) : __flick_heap_realloc(kept[k], size);
    } else {
      if (random & 0x4000)
        free(kept[k]);
      else
        __flick_heap_free(kept[k]);
      kept[k] = random & 0x8000 ? malloc(size) : __flick_heap_malloc(size);
    }
    CHECK(kept[k]);
    memset(kept[k], (int)i, size < 100 ? size : 100);
  }
  for (int k = 1; k < 64; k++)
    free(kept[k]);
  return kept[0];
}

static void threads_and_fork(void) {
  pthread_t threads[4];
  for (uintptr_t i = 0; i < 4; i++)
    CHECK(!pthread_create(&threads[i], NULL, churn, (void *)i));
  for (int i = 0; i < 4; i++) {
    void *last;
    pthread_join(threads[i], &last);
    free(last);
  }
  char *kept = __flick_heap_strdup("kept");
  pid_t child = fork();
  if (child == 0) {
    CHECK(!strcmp(kept, "kept"));
    free(kept);
    free(churn(NULL));
    _exit(7);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  CHECK(!strcmp(kept, "kept"));
  free(kept);
}

static char *late;

static void at_exit(void) {
  CHECK(!strcmp(late, "late"));
  free(late);
  late = __flick_heap_malloc(1 << 20);
  CHECK(late);
  memset(late, 1, 1 << 20);
}

__attribute__((destructor)) static void at_the_very_end(void) {
  late = realloc(late, 2 << 20);
  CHECK(late && late[5] == 1);
  free(late);
}

/* In a no-PIE program this makes the address of free that of its PLT entry. */
void (*volatile taken)(void *) = free;

int main(int argc, char **argv) {
  nxp = argc > 1 && !strcmp(argv[1], "nxp");
  register_module();
  taken(__flick_heap_malloc(10));
  one_heap_two_names();
  all_functions();
  library_resizes();
  threads_and_fork();
  late = __flick_heap_strdup("late");
  atexit(at_exit);
  puts("ok");
  return 0;
}

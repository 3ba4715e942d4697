#include <stddef.h>

int mallocs, callocs, strdups;
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
char *__real_strdup(const char *);

void *__wrap_malloc(size_t size) {
  ++mallocs;
  return __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size) {
  ++callocs;
  return __real_calloc(count, size);
}
char *__wrap_strdup(const char *text) {
  ++strdups;
  return __real_strdup(text);
}

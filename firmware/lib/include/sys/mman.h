/* Memory of a program, and files in it. */
#pragma once
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_FIXED 16
#define MAP_ANONYMOUS 32
#define MAP_ANON MAP_ANONYMOUS
#define MAP_FAILED ((void *)-1)
#define MS_ASYNC 1
#define MS_INVALIDATE 2
#define MS_SYNC 4

/* Whole pages of zeros, or a copy of a part of a file. What is stored there does not reach the
   file: shared mappings to write to are ENODEV, and a place that the caller chooses is EINVAL. */
void *mmap(void *address, size_t size, int rights, int flags, int file, off_t offset);
int munmap(void *address, size_t size);
int msync(void *address, size_t size, int flags);

#ifdef __cplusplus
}
#endif

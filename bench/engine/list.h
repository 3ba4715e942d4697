/* The kernels that main.c drives. */
#ifndef LIST_H
#define LIST_H

#include "kernel.h"

typedef struct {
  const char *name;
  kernel_function *run; /* null: it is not linked */
  uint64_t work;
} kernel;

/* One without a name is behind the last. */
extern const kernel kernels[];

#endif

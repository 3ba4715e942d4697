// What the compressors work on, and a checksum of their own for what comes back.
#ifndef FLICK_WORLD_INPUT_H
#define FLICK_WORLD_INPUT_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct input {
  const char *name;
  unsigned char *bytes;
  size_t size;
};

enum { INPUTS = 5 };

/// Text (the head of a file), noise, zeros, a short period, and nothing at all.
static inline void make_inputs(struct input out[INPUTS], const char *path, size_t size) {
  static const char *const names[INPUTS] = {"text", "noise", "zeros", "period", "nothing"};
  unsigned state = 1;
  for (int i = 0; i < INPUTS; i++) {
    struct input *in = &out[i];
    in->name = names[i];
    in->size = i == 4 ? 0 : i == 0 ? size : size / 4;
    in->bytes = (unsigned char *)calloc(in->size + 1, 1);
    if (i == 0) {
      FILE *file = fopen(path, "rb");
      if (!file || fread(in->bytes, 1, in->size, file) != in->size)
        exit((fprintf(stderr, "%s cannot be read\n", path), 2));
      fclose(file);
    }
    for (size_t k = 0; k < in->size && (i == 1 || i == 3); k++) {
      state = state * 1103515245 + 12345;
      in->bytes[k] = (unsigned char)(i == 1 ? state >> 16 : k % 100 * (k % 100));
    }
  }
}

static inline unsigned checksum(const void *bytes, size_t size) {
  unsigned hash = 2166136261U;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ ((const unsigned char *)bytes)[i]) * 16777619U;
  return hash;
}

/// Counts what is not as it should be.
static int wrong;

static inline void check(int good, const char *what) {
  if (good)
    return;
  printf("wrong: %s\n", what);
  wrong++;
}
#endif

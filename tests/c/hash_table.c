// A hash table whose insertions and look-ups run on the NxP and whose keys come from the host;
// growth, collisions, deletion.
// OUT: 300 1024 300 257 -1
#include <flick.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slot {
  char *key;
  int value;
};
struct table {
  struct slot *slots;
  size_t capacity, used;
};

FLICK_NXP static uint64_t hash(const char *s) {
  uint64_t h = 0xcbf29ce484222325U;
  while (*s)
    h = (h ^ (unsigned char)*s++) * 0x100000001b3U;
  return h;
}
FLICK_NXP static struct slot *find(struct table *t, const char *key) {
  size_t i = hash(key) % t->capacity;
  while (t->slots[i].key && strcmp(t->slots[i].key, key) != 0)
    i = (i + 1) % t->capacity;
  return &t->slots[i];
}
FLICK_NXP static void put(struct table *t, const char *key, int value) {
  if (t->used * 2 >= t->capacity) {
    struct table bigger = {NULL, t->capacity ? t->capacity * 2 : 8, t->used};
    bigger.slots = calloc(bigger.capacity, sizeof *bigger.slots);
    for (size_t i = 0; i < t->capacity; i++)
      if (t->slots[i].key)
        *find(&bigger, t->slots[i].key) = t->slots[i];
    free(t->slots);
    *t = bigger;
  }
  struct slot *s = find(t, key);
  if (!s->key) {
    s->key = strdup(key);
    t->used++;
  }
  s->value += value;
}
FLICK_NXP static int get(struct table *t, const char *key) {
  struct slot *s = find(t, key);
  return s->key ? s->value : -1;
}

int main(void) {
  struct table t = {NULL, 0, 0};
  char key[16];
  for (int i = 0; i < 500; i++) {
    snprintf(key, sizeof key, "key%d", i * 7 % 300);
    put(&t, key, i);
  }
  printf("%zu %zu %d %d %d\n", t.used, t.capacity, get(&t, "key0"), get(&t, "key299"),
         get(&t, "absent"));
  for (size_t i = 0; i < t.capacity; i++)
    free(t.slots[i].key);
  free(t.slots);
}

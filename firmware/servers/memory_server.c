// Memory that programs share, by name. The servers map each region, too: from there the kernel
// gives it to others.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "servers.h"

#define MOST_REGIONS 64

// Of size 0: there is none.
struct region {
  char name[NAME_SIZE];
  // NULL: it has no name any more.
  struct program *owner;
  uint64_t size;
  uint32_t mappings;
};

struct mapping {
  struct mapping *next;
  struct region *region;
  struct program *program;
  uint64_t address;
};

static struct region regions[MOST_REGIONS];
static struct mapping *mappings;

static uint64_t start_of(const struct region *region) {
  return REGIONS + (region - regions) * MOST_MAPPED;
}

static struct region *find(const char *name) {
  for (struct region *region = regions; region < regions + MOST_REGIONS; region++)
    if (region->owner && strcmp(region->name, name) == 0)
      return region;
  return NULL;
}

static struct region *free_region(void) {
  for (struct region *region = regions; region < regions + MOST_REGIONS; region++)
    if (!region->size)
      return region;
  return NULL;
}

static void free_if_unused(struct region *region) {
  if (region->owner || region->mappings)
    return;
  flick_memory_unmap(start_of(region), region->size);
  region->size = 0;
}

static void remove_name(struct region *region) {
  region->owner->names--;
  region->owner = NULL;
  free_if_unused(region);
}

static void drop(struct mapping **at) {
  struct mapping *mapping = *at;
  *at = mapping->next;
  mapping->region->mappings--;
  free_if_unused(mapping->region);
  free(mapping);
}

static int64_t create(struct program *program, const char *name, uint64_t size) {
  if (size == 0 || size > MOST_MAPPED)
    return -EINVAL;
  if (find(name))
    return -EEXIST;
  struct region *region = free_region();
  if (!region || program->names == MOST_NAMES)
    return -ENOSPC;
  if (!memory_is_left(size))
    return -ENOMEM;
  *region = (struct region){.owner = program, .size = size};
  int64_t mapped = flick_memory_map(start_of(region), size, FLICK_READ | FLICK_WRITE);
  if (mapped < 0) {
    region->size = 0;
    region->owner = NULL;
    return reply_of(mapped);
  }
  strcpy(region->name, name);
  program->names++;
  note_change();
  return 0;
}

static int64_t map(struct program *program, const char *name, uint64_t rights,
                   struct card_reply *reply) {
  struct region *region = find(name);
  if (!region)
    return MUST_WAIT;
  if (rights != FLICK_READ && rights != (FLICK_READ | FLICK_WRITE))
    return -EINVAL;
  struct mapping *mapping = memory_is_left(region->size) ? malloc(sizeof *mapping) : NULL;
  if (!mapping)
    return -ENOMEM;
  int64_t address =
      flick_process_map(program->number, 0, start_of(region), region->size, rights | FLICK_SHARED);
  if (address < 0) {
    free(mapping);
    return reply_of(address);
  }
  *mapping =
      (struct mapping){.next = mappings, .region = region, .program = program, .address = address};
  mappings = mapping;
  region->mappings++;
  reply->values[0] = region->size;
  return address;
}

// The program has its pages until it unmaps them itself, or ends.
static int64_t unmap(struct program *program, uint64_t address) {
  for (struct mapping **at = &mappings; *at; at = &(*at)->next)
    if ((*at)->program == program && (*at)->address == address) {
      int64_t size = (*at)->region->size;
      drop(at);
      return size;
    }
  return -EINVAL;
}

int64_t memory_server(struct program *program, const struct card_request *request,
                      struct card_reply *reply) {
  const uint64_t *arguments = request->arguments;
  if (request->operation == MEMORY_UNMAP)
    return unmap(program, arguments[0]);
  const char *name = name_of(request);
  if (!name)
    return -EINVAL;
  if (request->operation == MEMORY_CREATE)
    return create(program, name, arguments[0]);
  if (request->operation == MEMORY_MAP)
    return map(program, name, arguments[1], reply);
  struct region *region = find(name);
  if (!region)
    return -ENOENT;
  if (region->owner != program)
    return -EPERM;
  remove_name(region);
  return 0;
}

void end_regions(struct program *program) {
  for (struct mapping **at = &mappings; *at;)
    if ((*at)->program == program)
      drop(at);
    else
      at = &(*at)->next;
  for (struct region *region = regions; region < regions + MOST_REGIONS; region++)
    if (region->owner == program)
      remove_name(region);
}

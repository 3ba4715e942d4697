// Names of mailboxes.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "servers.h"

struct entry {
  struct entry *next;
  struct program *owner;
  uint64_t tile, port;
  char name[NAME_SIZE];
};

static struct entry *entries;

static struct entry **find(const char *name) {
  struct entry **at = &entries;
  while (*at && strcmp((*at)->name, name))
    at = &(*at)->next;
  return at;
}

static void drop(struct entry **at) {
  struct entry *entry = *at;
  *at = entry->next;
  entry->owner->names--;
  free(entry);
}

static int64_t enter(struct program *program, const char *name, uint64_t tile, uint64_t port) {
  if (*find(name))
    return -EEXIST;
  if (program->names == MOST_NAMES)
    return -ENOSPC;
  struct entry *entry = memory_is_left(0) ? malloc(sizeof *entry) : NULL;
  if (!entry)
    return -ENOMEM;
  *entry = (struct entry){.next = entries, .owner = program, .tile = tile, .port = port};
  strcpy(entry->name, name);
  entries = entry;
  program->names++;
  note_change();
  return 0;
}

int64_t name_server(struct program *program, const struct card_request *request,
                    struct card_reply *reply) {
  const char *name = name_of(request);
  if (!name)
    return -EINVAL;
  if (request->operation == NAME_REGISTER)
    return enter(program, name, request->arguments[0], request->arguments[1]);
  struct entry **at = find(name);
  if (request->operation == NAME_LOOK_UP) {
    if (!*at)
      return MUST_WAIT;
    reply->values[0] = (*at)->tile;
    reply->values[1] = (*at)->port;
    return 0;
  }
  if (!*at)
    return -ENOENT;
  if ((*at)->owner != program)
    return -EPERM;
  drop(at);
  return 0;
}

void end_names(struct program *program) {
  for (struct entry **at = &entries; *at;)
    if ((*at)->owner == program)
      drop(at);
    else
      at = &(*at)->next;
}

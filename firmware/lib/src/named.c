// Names of mailboxes, and memory that programs share.
#include <errno.h>
#include <flick/servers.h>
#include <string.h>

#include "server_call.h"

_Static_assert(FLICK_NAME_MAX + 1 == NAME_SIZE, "names of requests");

static int64_t named_call(uint32_t operation, const char *name, uint64_t first, uint64_t second,
                          struct card_reply *reply) {
  struct card_request request = {.operation = operation, .arguments = {first, second}};
  int64_t result = -ENAMETOOLONG;
  if (strlen(name) <= FLICK_NAME_MAX) {
    strcpy(request.name, name);
    result = __card_server_call(&request, reply);
  }
  if (result >= 0)
    return result;
  errno = -result;
  return -1;
}

int flick_name_register(const char *name, struct flick_address address) {
  struct card_reply reply;
  return named_call(NAME_REGISTER, name, address.tile, address.port, &reply);
}

int flick_name_look_up(const char *name, uint64_t until, struct flick_address *address) {
  struct card_reply reply;
  int result = named_call(NAME_LOOK_UP, name, until, 0, &reply);
  if (result == 0)
    *address = (struct flick_address){.tile = reply.values[0], .port = reply.values[1]};
  return result;
}

int flick_name_remove(const char *name) {
  struct card_reply reply;
  return named_call(NAME_REMOVE, name, 0, 0, &reply);
}

int flick_region_create(const char *name, size_t size) {
  struct card_reply reply;
  return named_call(MEMORY_CREATE, name, size, 0, &reply);
}

void *flick_region_map(const char *name, unsigned rights, uint64_t until, size_t *size) {
  struct card_reply reply;
  int64_t start = named_call(MEMORY_MAP, name, until, rights, &reply);
  if (start < 0)
    return NULL;
  if (size)
    *size = reply.values[0];
  return (void *)start;
}

// The servers forget the mapping first, and say how large it is.
int flick_region_unmap(void *start) {
  struct card_reply reply;
  int64_t size = named_call(MEMORY_UNMAP, "", (uintptr_t)start, 0, &reply);
  if (size < 0)
    return -1;
  flick_memory_unmap((uintptr_t)start, size);
  return 0;
}

int flick_region_remove(const char *name) {
  struct card_reply reply;
  return named_call(MEMORY_REMOVE, name, 0, 0, &reply);
}

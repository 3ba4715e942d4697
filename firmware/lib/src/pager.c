// A pager whose pages are extents of files. A view of each range is an endpoint of the accelerator,
// so that no page is copied.
#include <errno.h>
#include <fcntl.h>
#include <flick/pager.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "server_messages.h"

// Endpoints of an activity: its pager, and the first one for pages.
#define PAGER 10
#define PAGED 11

// Words of the answer to a fault.
#define BAD_ADDRESS 14

static int64_t made(int64_t result) { return result < 0 ? server_kernel_fails(result) : result; }

int flick_pager_begin(struct flick_pager *pager, uint64_t activity, uint64_t gate, uint64_t label) {
  *pager = (struct flick_pager){.activity = activity, .gate = gate};
  int64_t sender = made(flick_gate_sender(gate, label, 1));
  return sender < 0 ? -1 : (int)made(flick_activity_endpoint(activity, PAGER, (uint64_t)sender));
}

// Shows the extent at an offset. Returns its bytes from there on, up to `size`.
static int64_t show(struct flick_file *file, uint64_t rights, uint64_t offset, uint64_t size) {
  struct server_answer answer;
  uint64_t next = rights & FLICK_WRITE ? FLICK_FILE_NEXT_INOUT : FLICK_FILE_NEXT_IN;
  if (__card_ask_server(file->requests, FLICK_FILE_SEEK, offset, SEEK_SET, &answer) ||
      __card_ask_server(file->requests, next, 0, 0, &answer))
    return -1;
  // A writer gets new blocks behind the end, which are not the file's.
  uint64_t length = answer.words[2];
  return (int64_t)(length < size ? length : size);
}

static int map_range(struct flick_pager *pager, unsigned n, uint64_t address, uint64_t rights,
                     uint64_t offset, uint64_t size) {
  struct flick_file *file = &pager->ranges[n].file;
  int64_t shown = show(file, rights, offset, size);
  if (shown <= 0)
    return shown < 0 ? -1 : server_fails(ENXIO);
  if (made(flick_activity_endpoint(pager->activity, PAGED + n, file->data)) < 0)
    return -1;
  pager->ranges[n].address = address;
  pager->ranges[n].rights = rights;
  pager->ranges[n].size = (uint64_t)shown;
  return 0;
}

static bool is_mapped(const struct flick_pager *pager, uint64_t address, uint64_t size) {
  for (unsigned n = 0; n < FLICK_PAGER_RANGES; n++)
    if (pager->ranges[n].size && address < pager->ranges[n].address + pager->ranges[n].size &&
        pager->ranges[n].address < address + size)
      return true;
  return false;
}

// A range that is free. It is the number of an endpoint, too.
static int free_range(const struct flick_pager *pager) {
  for (int n = 0; n < FLICK_PAGER_RANGES; n++)
    if (!pager->ranges[n].size)
      return n;
  return server_fails(ENOSPC);
}

// Is the file as large as that?
static int check_size(struct flick_files *files, const char *path, uint64_t end) {
  struct flick_file_about about;
  if (flick_files_about(files, path, &about))
    return -1;
  return about.size < end ? server_fails(ENXIO) : 0;
}

int flick_pager_map(struct flick_pager *pager, uint64_t address, struct flick_files *files,
                    const char *path, int flags, off_t offset, uint64_t size) {
  uint64_t end, rights = (flags & O_ACCMODE) == O_RDWR ? FLICK_READ | FLICK_WRITE : FLICK_READ;
  if ((address | (uint64_t)offset) % FLICK_PAGE || offset < 0 || !size ||
      (flags & O_ACCMODE) == O_WRONLY || __builtin_add_overflow((uint64_t)offset, size, &end) ||
      __builtin_add_overflow(address, size, &end) || is_mapped(pager, address, size))
    return server_fails(EINVAL);
  if (check_size(files, path, (uint64_t)offset + size))
    return -1;
  for (uint64_t at = 0; at < size;) {
    int n = free_range(pager);
    if (n < 0 || flick_file_open(files, &pager->ranges[n].file, path, flags & O_ACCMODE))
      return -1;
    if (map_range(pager, (unsigned)n, address + at, rights, (uint64_t)offset + at, size - at)) {
      int error = errno;
      flick_file_close(&pager->ranges[n].file);
      return server_fails(error);
    }
    at += pager->ranges[n].size;
  }
  return 0;
}

int flick_pager_answer(struct flick_pager *pager, uint64_t slot, const uint64_t message[]) {
  uint64_t answer[3] = {BAD_ADDRESS};
  for (unsigned n = 0; n < FLICK_PAGER_RANGES; n++) {
    uint64_t offset = message[0] - pager->ranges[n].address;
    if (offset < pager->ranges[n].size) {
      answer[0] = 0;
      answer[1] = pager->ranges[n].rights | (PAGED + n) << 16;
      answer[2] = offset;
    }
  }
  return (int)made(flick_gate_answer(pager->gate, slot, (uintptr_t)answer, sizeof answer));
}

int flick_pager_end(struct flick_pager *pager) {
  int result = 0;
  for (unsigned n = 0; n < FLICK_PAGER_RANGES; n++) {
    if (!pager->ranges[n].size)
      continue;
    pager->ranges[n].size = 0;
    if (flick_file_close(&pager->ranges[n].file))
      result = -1;
  }
  return result;
}

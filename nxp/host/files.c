/* Files and pipes of the card's servers, as ends of chains and as numbers of the program's
 * (docs/files.md). */
#include "host_card.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECE = 64 << 10, SECOND = 1000000 };

int connect_place(struct place *place, const char *path, const char *stage, int flags) {
  char service[MOST_NAME + 1];
  const char *name = strchr(stage, '/');
  size_t size = name ? (size_t)(name - stage) : 0;
  if (!size || size > MOST_NAME || !name[1])
    return why(EINVAL, "%s: no file of a server (files/NAME, pipes/NAME)", path);
  memcpy(service, stage, size);
  service[size] = 0;
  begin_waiting();
  if (flick_files_connect(&place->files, service, SECOND)) {
    const char *text =
        errno == ENOENT ? "the card runs no such server (FLICK_CARD_FILES)" : strerror(errno);
    if (errno == ENODEV)
      text = "there is no card (FLICK_BACKEND=card)";
    if (errno == ENOSYS)
      text = "the card's machine has no root (FLICK_MACHINE=card-accelerators has one)";
    return why(errno, "%s: server %s: %s", path, service, text);
  }
  if (flick_file_open(&place->files, &place->file, name, flags)) {
    why(errno, "%s: %s: %s", path, stage, strerror(errno));
    int error = errno;
    flick_files_disconnect(&place->files);
    errno = error;
    return -1;
  }
  place->is_on_card = true;
  return 0;
}

int leave_place(struct place *place) {
  if (!place->is_on_card)
    return 0;
  place->is_on_card = false;
  int failed = flick_file_close(&place->file);
  int error = errno;
  flick_files_disconnect(&place->files);
  if (failed)
    why(error, "a file of the card is not closed: %s", strerror(error));
  return failed;
}

/* A copy of the file, which the program reads as it likes. */
int open_contents(struct place *place, const char *path, int flags) {
  int number =
      memfd_create("flick-card-file", MFD_ALLOW_SEALING | (flags & O_CLOEXEC ? MFD_CLOEXEC : 0));
  char *buffer = malloc(PIECE);
  ssize_t size = -1;
  if (number >= 0 && buffer)
    while ((size = flick_file_read(&place->file, buffer, PIECE)) > 0)
      if (write(number, buffer, size) != size) {
        size = -1;
        break;
      }
  int error = errno;
  free(buffer);
  if (size) {
    if (number >= 0)
      close(number);
    return why(error, "%s: %s", path, strerror(error));
  }
  fcntl(number, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  lseek(number, 0, SEEK_SET);
  return number;
}

struct copying {
  struct served *served;
  struct place place;
  bool writes;
  char path[MOST_PATH];
  char buffer[PIECE];
};

static int copy_in(struct copying *copying) {
  for (;;) {
    ssize_t size = recv(copying->served->end, copying->buffer, PIECE, 0);
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      return size;
    if (flick_file_write(&copying->place.file, copying->buffer, size) != size)
      return -1;
  }
}

static int copy_out(struct copying *copying) {
  ssize_t size;
  while ((size = flick_file_read(&copying->place.file, copying->buffer, PIECE)) > 0)
    for (ssize_t at = 0; at < size;) {
      ssize_t given = send(copying->served->end, copying->buffer + at, size - at, MSG_NOSIGNAL);
      if (given < 0 && errno == EINTR)
        continue;
      /* The program wants no more. */
      if (given < 0)
        return 0;
      at += given;
    }
  return size;
}

static void *copy(void *argument) {
  struct copying *copying = argument;
  int error = 0;
  if (copying->writes ? copy_in(copying) : copy_out(copying)) {
    error = errno;
    why(error, "%s: %s", copying->path, strerror(error));
  }
  if (leave_place(&copying->place) && !error)
    error = errno;
  end_serving(copying->served, error);
  free(copying);
  return NULL;
}

static void forget(void *argument) {
  struct copying *copying = argument;
  flick_capability_revoke(copying->place.files.session);
}

int start_copy(struct place *place, const char *path, int flags) {
  struct copying *copying = malloc(sizeof *copying);
  struct served *served = malloc(sizeof *served);
  int number = -1;
  if (!copying || !served) {
    why(ENOMEM, "%s: %s", path, strerror(ENOMEM));
  } else if ((number = make_ends(served, path, flags)) >= 0) {
    copying->served = served;
    copying->place = *place;
    /* The file's session is here from now on. */
    copying->place.file.files = &copying->place.files;
    copying->writes = (flags & O_ACCMODE) == O_WRONLY;
    snprintf(copying->path, sizeof copying->path, "%s", path);
    if (!start_serving(served, copy, forget, copying))
      return number;
  }
  int error = errno;
  free(copying);
  free(served);
  errno = error;
  return -1;
}

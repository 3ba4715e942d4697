/* Files of a server, on the root's tile (docs/files.md): by a session, which one thread uses at a
   time, as an open file. Each function returns -1 and sets errno if it fails. POSIX's functions
   reach the same files by names as /srv/files/name. */
#pragma once
#include <flick/card.h>
#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct flick_files {
  /* Capabilities: of the session, and of its page, where paths are. */
  uint64_t session, page;
};

/* Opens a session with a server, and waits until there is one; 0: only if there is one now. */
int flick_files_connect(struct flick_files *files, const char *server, uint64_t until);
/* The session is over, and its files are closed. */
int flick_files_disconnect(struct flick_files *files);

struct flick_file {
  struct flick_files *files;
  /* For an accelerator: what its endpoints for requests and for data are set up by. */
  uint64_t requests, data;
  /* The rest is for the functions here. */
  uint64_t number, flags, kind, position, server_position;
  struct {
    uint64_t start, offset, length, at, used, rights;
  } piece;
};

/* `flags`: those of open(). */
int flick_file_open(struct flick_files *files, struct flick_file *file, const char *path,
                    int flags);
int flick_file_close(struct flick_file *file);
/* A pipe of a server of pipes: an end to read, and one to write. */
int flick_files_pipe(struct flick_files *files, struct flick_file ends[2]);
ssize_t flick_file_read(struct flick_file *file, void *buffer, size_t size);
ssize_t flick_file_write(struct flick_file *file, const void *buffer, size_t size);
off_t flick_file_seek(struct flick_file *file, off_t offset, int whence);
/* Somebody else gets the same open file, with the same position: who knows the number and the key.
   The session has it until then. */
int flick_file_share(struct flick_file *file, uint64_t key, uint64_t *number);
int flick_file_adopt(struct flick_files *files, struct flick_file *file, uint64_t number,
                     uint64_t key);
/* What a read and a write would not wait for: FLICK_FILES_READY_READ and kin. */
int flick_file_ready(struct flick_file *file);
/* Reads and writes of pipes that would wait fail with EAGAIN, or wait again. */
void flick_file_set_waits(struct flick_file *file, int waits);
/* Others see what was written. */
int flick_file_commit(struct flick_file *file);
int flick_file_resize(struct flick_file *file, off_t size);
off_t flick_file_size(struct flick_file *file);

/* The file of an open number of /srv, NULL: it is none. */
struct flick_file *flick_file_of(int number);

struct flick_file_about {
  /* 0: a file, 1: a directory. */
  uint64_t kind, size, links, number;
};

int flick_files_about(struct flick_files *files, const char *path, struct flick_file_about *about);
int flick_files_make_directory(struct flick_files *files, const char *path);
int flick_files_remove_directory(struct flick_files *files, const char *path);
int flick_files_link(struct flick_files *files, const char *path, const char *new_path);
int flick_files_unlink(struct flick_files *files, const char *path);
int flick_files_rename(struct flick_files *files, const char *path, const char *new_path);
/* Entries of a directory from number `first` on: a byte (1: a directory), the name, and a zero.
   `list` has room for FLICK_FILES_PAGE bytes. Returns how many were written. */
ssize_t flick_files_list(struct flick_files *files, const char *path, uint64_t first, char *list);

#ifdef __cplusplus
}
#endif

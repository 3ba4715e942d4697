/* All files, sent to who has started the machine (crates/cli/src/sent_files.rs): by the console,
   in parts with a mark in front, since others write there, too. */
#include "shell.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <flick/card.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PART = 16 << 10, MOST_MARK = 32, MOST_LINKED = 1024, MOST_PATH = 1024 };

/* The part that is written, and files that have several names. */
static struct {
  char mark[MOST_MARK];
  size_t mark_size, size;
  char bytes[MOST_MARK + 4 + MOST_PART];
  struct {
    ino_t number;
    char *path;
  } linked[MOST_LINKED];
  size_t linked_count;
} sent;

/* One call, so that nothing comes in between. */
static void end_part(void) {
  if (!sent.size)
    return;
  uint32_t size = (uint32_t)sent.size;
  memcpy(sent.bytes, sent.mark, sent.mark_size);
  memcpy(sent.bytes + sent.mark_size, &size, sizeof size);
  flick_console_write((uintptr_t)sent.bytes, sent.mark_size + sizeof size + size);
  sent.size = 0;
}

static void put(const void *bytes, size_t size) {
  for (const char *at = bytes; size;) {
    if (sent.size == MOST_PART)
      end_part();
    size_t part = MOST_PART - sent.size < size ? MOST_PART - sent.size : size;
    memcpy(sent.bytes + sent.mark_size + 4 + sent.size, at, part);
    sent.size += part;
    at += part;
    size -= part;
  }
}

static void put_record(char kind, const char *path) {
  put(&kind, 1);
  put(path, strlen(path) + 1);
}

/* The name by which the file was sent already. NULL: there is none. */
static const char *other_name(const struct stat *about, const char *path) {
  if (about->st_nlink < 2)
    return NULL;
  for (size_t n = 0; n < sent.linked_count; n++) {
    if (sent.linked[n].number == about->st_ino)
      return sent.linked[n].path;
  }
  if (sent.linked_count < MOST_LINKED) {
    sent.linked[sent.linked_count].path = strdup(path);
    sent.linked[sent.linked_count].number = about->st_ino;
    sent.linked_count += sent.linked[sent.linked_count].path != NULL;
  }
  return NULL;
}

static int save_file(const char *path, const struct stat *about) {
  char part[4096];
  const char *other = other_name(about, path);
  if (other) {
    put_record('h', path);
    put(other, strlen(other) + 1);
    return 0;
  }
  int file = open(path, O_RDONLY);
  if (file < 0)
    return fails(path);
  uint64_t left = (uint64_t)about->st_size;
  put_record('f', path);
  put(&left, sizeof left);
  while (left) {
    ssize_t size = read(file, part, left < sizeof part ? left : sizeof part);
    if (size <= 0) {
      fails(path);
      break;
    }
    put(part, (size_t)size);
    left -= (uint64_t)size;
  }
  close(file);
  return left ? -1 : 0;
}

/* What is in a directory; of the first one, names without the directory. */
static int save_directory(const char *path) {
  DIR *directory = opendir(*path ? path : ".");
  int status = directory ? 0 : fails(path);
  for (struct dirent *entry; !status && (entry = readdir(directory));) {
    char below[MOST_PATH];
    struct stat about;
    int size = snprintf(below, sizeof below, "%s%s%s", path, *path ? "/" : "", entry->d_name);
    if ((size_t)size >= sizeof below) {
      errno = ENAMETOOLONG;
      status = fails(path);
    } else if (stat(below, &about)) {
      status = fails(below);
    } else if (S_ISDIR(about.st_mode)) {
      put_record('d', below);
      status = save_directory(below);
    } else {
      status = save_file(below, &about);
    }
  }
  if (directory)
    closedir(directory);
  return status;
}

int save_files(const char *mark, const char *directory) {
  sent.mark_size = (size_t)snprintf(sent.mark, sizeof sent.mark, "\1%s", mark);
  if (sent.mark_size >= sizeof sent.mark || chdir(directory))
    return fails(directory);
  int status = save_directory("");
  if (!status)
    put("e", 1);
  end_part();
  return status;
}

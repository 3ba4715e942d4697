#include "file_tree.h"

#include <errno.h>
#include <flick/card.h>
#include <stdlib.h>
#include <string.h>

#include "archive.h"
#include "cache.h"

// Pages that a file leaves to others: the program that makes it would end at a page that is not
// there.
#define LEFT_PAGES 16

static struct {
  _Alignas(CARD_LINE) struct file_node *first;
} nodes;

static struct file_node *add_node(const char *name, size_t length) {
  struct file_node *node = calloc(1, sizeof *node);
  if (!node || !(node->name = strndup(name, length))) {
    free(node);
    return NULL;
  }
  node->next = nodes.first;
  nodes.first = node;
  return node;
}

static const char *clean(const char *name) {
  while (*name == '/' || (name[0] == '.' && (name[1] == '/' || name[1] == 0)))
    name++;
  return name;
}

static size_t clean_length(const char *name) {
  size_t length = strlen(name);
  while (length && name[length - 1] == '/')
    length--;
  return length;
}

static struct file_node *find_name(const char *name, size_t length) {
  for (struct file_node *node = nodes.first; node; node = node->next)
    if (strncmp(node->name, name, length) == 0 && node->name[length] == 0)
      return node;
  return NULL;
}

static void add_of_archive(const char *name, bool is_directory, char *data, size_t size) {
  name = clean(name);
  size_t length = clean_length(name);
  // Archives have files of directories that they do not name.
  for (size_t n = 1; n < length; n++)
    if (name[n] == '/' && !find_name(name, n)) {
      struct file_node *parent = add_node(name, n);
      if (parent)
        parent->is_directory = true;
    }
  struct file_node *node = length && !find_name(name, length) ? add_node(name, length) : NULL;
  if (!node)
    return;
  node->is_directory = is_directory;
  node->data = data;
  node->size = size;
}

struct file_node *__card_find_file(const char *path) {
  static bool is_read;
  if (!is_read) {
    is_read = true;
    __card_read_archive(add_of_archive);
  }
  path = clean(path);
  return find_name(path, clean_length(path));
}

bool __card_is_directory(const char *path) {
  struct file_node *node = __card_find_file(path);
  return node ? node->is_directory : !*clean(path);
}

// The part of a node's name behind a directory and a slash, or NULL.
static const char *name_in(const struct file_node *node, const char *directory, size_t length) {
  if (length == 0)
    return node->name;
  if (strncmp(node->name, directory, length) || node->name[length] != '/')
    return NULL;
  return node->name + length + 1;
}

static bool parent_exists(const char *path) {
  path = clean(path);
  size_t length = clean_length(path);
  while (length && path[length - 1] != '/')
    length--;
  if (length == 0)
    return true;
  struct file_node *parent = find_name(path, length - 1);
  return parent && parent->is_directory;
}

struct file_node *__card_make_file(const char *path, bool is_directory, int *error) {
  const char *name = clean(path);
  if (!parent_exists(path)) {
    *error = -ENOENT;
    return NULL;
  }
  struct file_node *node = add_node(name, clean_length(name));
  if (node)
    node->is_directory = is_directory;
  else
    *error = -ENOMEM;
  return node;
}

static bool is_left(size_t size) {
  uint64_t all;
  int64_t pages = flick_memory_free(&all);
  return pages >= 0 && size / FLICK_PAGE + LEFT_PAGES <= (uint64_t)pages;
}

int __card_grow_file(struct file_node *node, size_t capacity) {
  if (node->capacity >= capacity)
    return 0;
  if (capacity < 2 * node->capacity)
    capacity = 2 * node->capacity;
  if (!is_left(capacity))
    return -ENOSPC;
  char *data = realloc(node->capacity ? node->data : NULL, capacity);
  if (!data)
    return -ENOSPC;
  if (!node->capacity && node->size)
    memcpy(data, node->data, node->size);
  node->data = data;
  node->capacity = capacity;
  return 0;
}

int __card_resize_file(struct file_node *node, size_t size) {
  int error = size ? __card_grow_file(node, size) : 0;
  if (error)
    return error;
  if (size > node->size)
    memset(node->data + node->size, 0, size - node->size);
  node->size = size;
  return 0;
}

void __card_release_file(struct file_node *node) {
  if (--node->users || !node->is_unlinked)
    return;
  if (node->capacity)
    free(node->data);
  free(node->name);
  free(node);
}

int __card_remove_file(const char *path, bool wants_directory) {
  struct file_node *node = __card_find_file(path);
  if (!node)
    return __card_is_directory(path) ? -EISDIR : -ENOENT;
  if (node->is_directory != wants_directory)
    return wants_directory ? -ENOTDIR : -EISDIR;
  size_t length = strlen(node->name);
  for (struct file_node *other = nodes.first; wants_directory && other; other = other->next)
    if (name_in(other, node->name, length))
      return -ENOTEMPTY;
  struct file_node **at = &nodes.first;
  while (*at != node)
    at = &(*at)->next;
  *at = node->next;
  node->is_unlinked = true;
  node->users++;
  __card_release_file(node);
  return 0;
}

int __card_rename_file(const char *from, const char *to) {
  struct file_node *node = __card_find_file(from);
  if (!node || !parent_exists(to))
    return -ENOENT;
  // Names of what is in a directory would have to change, too.
  if (node->is_directory || __card_is_directory(to))
    return -EISDIR;
  struct file_node *before = __card_find_file(to);
  if (before == node)
    return 0;
  const char *name = clean(to);
  char *copy = strndup(name, clean_length(name));
  if (!copy)
    return -ENOMEM;
  if (before)
    __card_remove_file(to, false);
  free(node->name);
  node->name = copy;
  return 0;
}

int64_t __card_list_files(const char *path, uint64_t first, char *out, size_t room) {
  if (!__card_is_directory(path))
    return __card_find_file(path) ? -ENOTDIR : -ENOENT;
  path = clean(path);
  size_t length = clean_length(path), done = 0;
  uint64_t number = 0;
  for (struct file_node *node = nodes.first; node; node = node->next) {
    const char *name = name_in(node, path, length);
    if (!name || strchr(name, '/') || number++ < first)
      continue;
    size_t size = strlen(name) + 2;
    if (size > room - done)
      return done ? (int64_t)done : -ENAMETOOLONG;
    out[done] = node->is_directory;
    memcpy(out + done + 1, name, size - 1);
    done += size;
  }
  return done;
}

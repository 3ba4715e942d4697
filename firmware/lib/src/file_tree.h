// Files and directories by name, in memory. At first those of the machine's archive. Callers hold a
// lock. Results are 0 or more, or the negative number of an error of errno.h.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A file or directory. It stays when it has no name any more, until nobody uses it.
struct file_node {
  struct file_node *next;
  // Without a slash at either end.
  char *name;
  char *data;
  size_t size;
  // Bytes behind `data`; 0: it is the archive's.
  size_t capacity;
  uint32_t users;
  bool is_directory, is_unlinked;
};

// NULL: there is none. The root has no node.
struct file_node *__card_find_file(const char *path);
// Is it one, the root among them?
bool __card_is_directory(const char *path);
// A new one, whose name must be free. NULL, and an error.
struct file_node *__card_make_file(const char *path, bool is_directory, int *error);
int __card_resize_file(struct file_node *node, size_t size);
// Makes the data the program's own, with room for so many bytes.
int __card_grow_file(struct file_node *node, size_t capacity);
// One less uses it.
void __card_release_file(struct file_node *node);
int __card_remove_file(const char *path, bool wants_directory);
int __card_rename_file(const char *from, const char *to);
// Writes entries of a directory from number `first` on: a byte (1: a directory), the name, and a
// zero. Returns how many bytes.
int64_t __card_list_files(const char *path, uint64_t first, char *out, size_t room);

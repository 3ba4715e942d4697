// NxP functions as callbacks of the C library, which is called by host and by NxP code: walks of
// directories and trees, searches, streams of the program's own, options, fork and exit handlers.
// Expects the calls that host functions would get.
// OUT: host: tree 2 3 5 7 | depth 3 leaves 2 | freed 4
// OUT: nxp: tree 2 3 5 7 | depth 3 leaves 2 | freed 4
// OUT: host: lsearch 3 of 4, lfind 1, bsearch 5
// OUT: nxp: lsearch 3 of 4, lfind 1, bsearch 5
// OUT: host: walk: 4 entries, 30, sub top
// OUT: nxp: walk: 4 entries, 30, sub top
// OUT: host: ftw: 2 files 2 directories, stopped with 9
// OUT: nxp: ftw: 2 files 2 directories, stopped with 9
// OUT: host: scandir: sub a.txt
// OUT: nxp: scandir: sub a.txt
// OUT: host: glob: 0 asked, 1 found
// OUT: nxp: glob: 0 asked, 1 found
// OUT: host: cookie: read 6 [ABCDEF] wrote 5 [12345], closed
// OUT: nxp: cookie: read 6 [ABCDEF] wrote 5 [12345], closed
// OUT: host: options: level 4, word arg
// OUT: nxp: options: level 4, word arg
// OUT: host: modules 1
// OUT: nxp: modules 1
// OUT: fork: prepare 1 parent 1 child 1
// OUT: at exit: second
// OUT: at exit: 3 with status 0
// OUT: at exit: first
#define _GNU_SOURCE
#include <argp.h>
#include <dirent.h>
#include <fcntl.h>
#include <flick.h>
#include <ftw.h>
#include <glob.h>
#include <link.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Each part runs on the host and on the NxP, with the same callbacks.
#define ON_BOTH(name)                                                                              \
  FLICK_HOST static void name##_host(void) { name##_part("host"); }                                \
  FLICK_NXP static void name##_nxp(void) { name##_part("nxp"); }

static char text[400];
FLICK_NXP static void say(const char *word) { strcat(strcat(text, " "), word); }

FLICK_NXP static int by_value(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}
static int depth, leaves, freed;
FLICK_NXP static void visit(const void *node, VISIT order, int level) {
  depth = level + 1 > depth ? level + 1 : depth;
  leaves += order == leaf;
  if (order == postorder || order == leaf) {
    char number[12];
    snprintf(number, sizeof number, "%d", **(int *const *)node);
    say(number);
  }
}
FLICK_NXP static void drop(void *node) {
  (void)node;
  freed++;
}
static inline void tree_part(const char *side) {
  static int values[] = {5, 3, 7, 2};
  void *root = NULL;
  depth = leaves = freed = 0;
  text[0] = 0;
  for (int i = 0; i < 4; i++)
    tsearch(&values[i], &root, by_value);
  twalk(root, visit);
  tdestroy(root, drop);
  printf("%s: tree%s | depth %d leaves %d | freed %d\n", side, text, depth, leaves, freed);
}
ON_BOTH(tree)

static inline void search_part(const char *side) {
  int values[8] = {4, 6, 9};
  size_t n = 3;
  int key = 8;
  int *added = lsearch(&key, values, &n, sizeof key, by_value);
  key = 6;
  int *found = lfind(&key, values, &n, sizeof key, by_value);
  static const int sorted[] = {1, 2, 3, 5, 8, 13, 21, 34};
  key = 13;
  const int *in = bsearch(&key, sorted, 8, sizeof key, by_value);
  printf("%s: lsearch %td of %zu, lfind %td, bsearch %td\n", side, added - values, n,
         found - values, in - sorted);
}
ON_BOTH(search)

// Folders come after what is in them; the order within one is the file system's.
static int sizes, seen;
FLICK_NXP static int on_entry(const char *path, const struct stat *s, int kind, struct FTW *f) {
  seen++;
  if (kind == FTW_F)
    sizes += s->st_size * 10;
  else if (kind == FTW_DP)
    say(path + f->base);
  else
    say("?");
  return 0;
}
static int files, directories;
FLICK_NXP static int on_ftw(const char *path, const struct stat *s, int kind) {
  (void)s;
  files += kind == FTW_F;
  directories += kind == FTW_D;
  (void)path;
  return files == 2 && directories == 2 ? 9 : 0;
}
static inline void walk_part(const char *side) {
  text[0] = 0;
  seen = sizes = 0;
  nftw("top", on_entry, 4, FTW_DEPTH | FTW_PHYS);
  printf("%s: walk: %d entries, %d,%s\n", side, seen, sizes, text);
}
ON_BOTH(walk)
static inline void ftw_part(const char *side) {
  files = directories = 0;
  int status = ftw("top", on_ftw, 4);
  printf("%s: ftw: %d files %d directories, stopped with %d\n", side, files, directories, status);
}
ON_BOTH(ftw)

FLICK_NXP static int no_dots(const struct dirent *d) { return d->d_name[0] != '.'; }
FLICK_NXP static int backwards(const struct dirent **a, const struct dirent **b) {
  return strcmp((*b)->d_name, (*a)->d_name);
}
static inline void scandir_part(const char *side) {
  struct dirent **list;
  int n = scandir("top", &list, no_dots, backwards);
  printf("%s: scandir:", side);
  for (int i = 0; i < n; i++) {
    printf(" %s", list[i]->d_name);
    free(list[i]);
  }
  puts("");
  free(list);
}
ON_BOTH(scandir)

static int asked;
FLICK_NXP static int on_glob_error(const char *path, int error) {
  (void)path;
  (void)error;
  asked++;
  return 0;
}
static inline void glob_part(const char *side) {
  glob_t found;
  glob("top/*.txt", 0, on_glob_error, &found);
  printf("%s: glob: %d asked, %zu found\n", side, asked, found.gl_pathc);
  globfree(&found);
}
ON_BOTH(glob)

struct stream {
  char written[16];
  int at, closed;
};
FLICK_NXP static ssize_t on_read(void *cookie, char *to, size_t n) {
  struct stream *s = cookie;
  size_t i = 0;
  while (i < n && s->at < 6)
    to[i++] = "ABCDEF"[s->at++];
  return i;
}
FLICK_NXP static ssize_t on_write(void *cookie, const char *from, size_t n) {
  strncat(((struct stream *)cookie)->written, from, n);
  return n;
}
FLICK_NXP static int on_close(void *cookie) {
  ((struct stream *)cookie)->closed++;
  return 0;
}
static inline void cookie_part(const char *side) {
  struct stream s = {"", 0, 0};
  cookie_io_functions_t io = {on_read, on_write, NULL, on_close};
  FILE *in = fopencookie(&s, "r", io), *out = fopencookie(&s, "w", io);
  char got[10] = "";
  size_t n = fread(got, 1, 9, in);
  int wrote = fprintf(out, "%d", 12345);
  fclose(in);
  fclose(out);
  printf("%s: cookie: read %zu [%s] wrote %d [%s], %s\n", side, n, got, wrote, s.written,
         s.closed == 2 ? "closed" : "open");
}
ON_BOTH(cookie)

struct options {
  int level;
  const char *word;
};
FLICK_NXP static error_t on_option(int key, char *value, struct argp_state *state) {
  struct options *o = state->input;
  switch (key) {
  case 'l':
    o->level = atoi(value);
    return 0;
  case ARGP_KEY_ARG:
    o->word = value;
    return 0;
  }
  return ARGP_ERR_UNKNOWN;
}
static inline void options_part(const char *side) {
  static const struct argp_option known[] = {{"level", 'l', "N", 0, "the level", 0},
                                             {0, 0, 0, 0, 0, 0}};
  const struct argp parser = {known, on_option, "WORD", "", NULL, NULL, NULL};
  char name[] = "prog", level[] = "--level=4", word[] = "arg";
  char *arguments[] = {name, level, word, NULL};
  struct options o = {0, ""};
  argp_parse(&parser, 3, arguments, 0, NULL, &o);
  printf("%s: options: level %d, word %s\n", side, o.level, o.word);
}
ON_BOTH(options)

FLICK_NXP static int on_module(struct dl_phdr_info *info, size_t size, void *count) {
  if (size >= sizeof info->dlpi_addr && info->dlpi_phnum > 0)
    *(int *)count = 1;
  return 0;
}
static inline void modules_part(const char *side) {
  int count = 0;
  dl_iterate_phdr(on_module, &count);
  printf("%s: modules %d\n", side, count);
}
ON_BOTH(modules)

static int prepared, in_parent, in_child;
FLICK_NXP static void on_prepare(void) { prepared++; }
FLICK_NXP static void on_parent(void) { in_parent++; }
FLICK_NXP static void on_child(void) { in_child++; }
FLICK_NXP static void fork_once(void) {
  pthread_atfork(on_prepare, on_parent, on_child);
  pid_t child = fork();
  if (child == 0)
    _exit(in_child);
  int status = 0;
  waitpid(child, &status, 0);
  printf("fork: prepare %d parent %d child %d\n", prepared, in_parent, WEXITSTATUS(status));
}

FLICK_NXP static void first(void) { puts("at exit: first"); }
FLICK_NXP static void second(void) { puts("at exit: second"); }
FLICK_NXP static void with_status(int status, void *argument) {
  printf("at exit: %d with status %d\n", *(int *)argument, status);
}
FLICK_NXP static void at_exit(void) {
  static int three = 3;
  atexit(first);
  on_exit(with_status, &three);
}

static void make(const char *path, const char *contents) {
  FILE *f = fopen(path, "w");
  fputs(contents, f);
  fclose(f);
}

int main(void) {
  mkdir("top", 0755);
  mkdir("top/sub", 0755);
  make("top/a.txt", "1");
  make("top/sub/b.txt", "22");
  tree_host();
  tree_nxp();
  search_host();
  search_nxp();
  walk_host();
  walk_nxp();
  ftw_host();
  ftw_nxp();
  scandir_host();
  scandir_nxp();
  glob_host();
  glob_nxp();
  cookie_host();
  cookie_nxp();
  options_host();
  options_nxp();
  modules_host();
  modules_nxp();
  fflush(stdout);
  fork_once();
  at_exit();
  atexit(second);
  return 0;
}

/* flick_open: files, pipes and accelerators of the card by names (docs/host-files.md). */
#include "host_card.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char scheme[] = "card:/";

/* The largest argument of a stage. */
enum { MOST_ARGUMENT = 16 << 20 };

static int read_argument(struct stage *stage, const char *path, const char *file) {
  struct stat about;
  int from = open(file, O_RDONLY | O_CLOEXEC), error = errno;
  if (from >= 0 && fstat(from, &about))
    error = errno;
  else if (from >= 0 && (!S_ISREG(about.st_mode) || about.st_size > MOST_ARGUMENT))
    error = EINVAL;
  else if (from >= 0) {
    size_t size = about.st_size, done = 0;
    ssize_t part = 1;
    stage->argument = malloc(size + 1);
    while (stage->argument && done < size &&
           (part = read(from, stage->argument + done, size - done)) > 0)
      done += part;
    stage->argument_size = done;
    error = !stage->argument ? ENOMEM : part < 0 ? errno : 0;
  }
  if (from >= 0)
    close(from);
  return error ? why(error, "%s: the argument %s: %s", path, file, strerror(error)) : 0;
}

void free_arguments(struct chain *chain) {
  for (int n = 0; n < chain->count; n++) {
    free(chain->stages[n].argument);
    chain->stages[n].argument = NULL;
  }
}

static bool is_file(const char *stage) { return strchr(stage, '/') != NULL; }

/* "fft", "mul?kernel=FILE". */
static int read_stage(struct stage *stage, const char *path, char *text) {
  char *argument = strchr(text, '?'), *file = argument ? strchr(argument, '=') : NULL;
  if (argument && !file)
    return why(EINVAL, "%s: an argument is ?NAME=FILE", path);
  if (argument)
    *argument = 0;
  size_t size = strlen(text);
  if (!size || size > MOST_NAME)
    return why(EINVAL, "%s: a stage is the name of an accelerator, of up to %d bytes", path,
               MOST_NAME);
  memcpy(stage->name, text, size + 1);
  return argument ? read_argument(stage, path, file + 1) : 0;
}

/* A way to use the number that its ends have. */
static int check_flags(const struct chain *chain, int flags) {
  int how = flags & O_ACCMODE;
  if (flags &
      ~(O_ACCMODE | O_CLOEXEC | O_NONBLOCK | O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_NOCTTY))
    return why(EINVAL, "%s: unknown flags", chain->path);
  bool reads = chain->count && !chain->to.is_on_card,
       writes = chain->count && !chain->from.is_on_card;
  if (!chain->count)
    return how == O_RDWR ? why(EINVAL, "%s: O_RDONLY or O_WRONLY", chain->path) : 0;
  bool is_good = (how == O_RDWR && reads && writes) || (how == O_RDONLY && !writes) ||
                 (how == O_WRONLY && !reads);
  return is_good ? 0
                 : why(EINVAL, "%s: the flags are those of a number %s", chain->path,
                       reads && writes ? "to read and to write (O_RDWR)"
                       : writes        ? "to write (O_WRONLY)"
                                       : "to read (O_RDONLY)");
}

static int read_stages(struct chain *chain, char *text, int flags) {
  char *next;
  for (int n = 0; text; text = next, n++) {
    next = strchr(text, '|');
    if (next)
      *next++ = 0;
    bool is_first = !n, is_last = !next;
    if (!is_file(text) || strchr(text, '?')) {
      if (chain->count == MOST_STAGES)
        return why(E2BIG, "%s: more than %d accelerators", chain->path, MOST_STAGES);
      if (read_stage(&chain->stages[chain->count++], chain->path, text))
        return -1;
    } else if (is_first && is_last) {
      return connect_place(&chain->from, chain->path, text, flags);
    } else if (is_first) {
      if (connect_place(&chain->from, chain->path, text, O_RDONLY))
        return -1;
    } else if (is_last) {
      /* In front of what makes the file, or cuts it. */
      chain->to.is_on_card = true;
      bool is_wrong = check_flags(chain, flags);
      chain->to.is_on_card = false;
      if (is_wrong)
        return -1;
      if (connect_place(&chain->to, chain->path, text,
                        O_WRONLY | O_CREAT | (flags & O_APPEND ? O_APPEND : O_TRUNC)))
        return -1;
    } else {
      return why(EINVAL, "%s: a file is the first or the last stage", chain->path);
    }
  }
  if (!chain->count)
    return why(EINVAL, "%s: an accelerator has to be between two files", chain->path);
  return 0;
}

static int open_all(struct chain *chain, int flags) {
  char text[MOST_PATH];
  const char *path = chain->path;
  if (strncmp(path, scheme, strlen(scheme)))
    return why(EINVAL, "%s: names begin with %s", path, scheme);
  strcpy(text, path + strlen(scheme));
  if (read_stages(chain, text, flags) || check_flags(chain, flags))
    return -1;
  if (chain->count)
    return start_chain(chain, flags);
  struct place *place = &chain->from;
  bool is_pipe = place->file.kind == FLICK_FILES_KIND_PIPE;
  if (is_pipe || (flags & O_ACCMODE) == O_WRONLY) {
    int number = start_copy(place, path, flags);
    place->is_on_card &= number < 0;
    return number;
  }
  return open_contents(place, path, flags);
}

static int open_chain(struct chain *chain, const char *path, int flags) {
  if (!path || strlen(path) >= MOST_PATH)
    return why(path ? ENAMETOOLONG : EFAULT, "a name for flick_open has up to %d bytes",
               MOST_PATH - 1);
  strcpy(chain->path, path);
  int number = open_all(chain, flags), error = errno;
  /* A chain that runs has them. */
  if (number < 0 || !chain->count) {
    char text[160];
    snprintf(text, sizeof text, "%s", flick_error());
    free_arguments(chain);
    leave_place(&chain->from);
    leave_place(&chain->to);
    if (number < 0)
      why(error, "%s", text);
  }
  return number;
}

PUBLIC int flick_open(const char *path, int flags) {
  struct chain *chain = calloc(1, sizeof *chain);
  if (!chain)
    return why(ENOMEM, "%s: %s", path, strerror(ENOMEM));
  int before = errno;
  forget_parent();
  int number = open_chain(chain, path, flags);
  free(chain);
  if (number >= 0)
    errno = before;
  return number;
}

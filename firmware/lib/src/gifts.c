// Files of servers that posix_spawn gives to a program (docs/files.md). The program that starts it
// shares them, and the new one adopts them by their numbers and keys.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "spawn.h"

// What programs that run have got, until somebody has waited for them. More are closed with the
// session.
#define MOST_KEPT 32

static struct {
  struct card_word lock;
  _Alignas(CARD_LINE) struct {
    pid_t process;
    struct card_gift gift;
  } all[MOST_KEPT];
} kept;

// It keeps honest programs apart: a number that was used before has another key.
static uint64_t new_key(void) {
  static uint64_t count;
  uint64_t number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
  return (flick_time() ^ number << 32) * 0x9e3779b97f4a7c15ul;
}

// What low numbers of the program are.
struct plan {
  struct server_number *at[MOST_FILES];
  int opened[MOST_ACTIONS];
  unsigned opened_count;
};

static struct server_number *planned(const struct plan *plan, int file) {
  return file < MOST_FILES ? plan->at[file] : __card_number_of(file);
}

// The number of a file that is opened for the program alone, or -1.
static int open_for(struct plan *plan, const char *path, int flags) {
  int number = open(path, flags);
  if (number >= 0)
    plan->opened[plan->opened_count++] = number;
  return number;
}

// Follows an action. Returns whether it concerns files of servers alone, or -1.
static int follow(struct plan *plan, const struct card_spawn_action *action, const char *path) {
  int file = action->file, target = action->kind == SPAWN_DUPLICATE ? action->value : file;
  // The tile's servers refuse it.
  if (file >= MOST_FILES && !__card_is_server_number(file))
    return false;
  if (target < 0 || target >= MOST_FILES) {
    errno = EBADF;
    return action->kind == SPAWN_CLOSE ? true : -1;
  }
  // What is behind a low number of this program is behind that of the other one, too.
  bool is_behind = __card_is_server_number(target);
  struct server_number *before = plan->at[target], *now = NULL;
  char full[PATH_SIZE];
  if (action->kind == SPAWN_DUPLICATE) {
    now = planned(plan, file);
    if (!now && file >= MOST_FILES) {
      errno = EBADF;
      return -1;
    }
  } else if (action->kind == SPAWN_OPEN) {
    size_t size;
    const char *from = __card_full_path(path, full, &size);
    if (from && __card_is_server_path(from)) {
      int number = open_for(plan, from, action->value);
      if (number < 0)
        return -1;
      now = __card_number_of(number);
    }
  }
  plan->at[target] = now;
  return now || (action->kind == SPAWN_CLOSE && before && !is_behind);
}

static int share(struct card_gifts *gifts, const struct plan *plan) {
  for (unsigned low = 0; low < MOST_FILES; low++) {
    struct server_number *number = plan->at[low];
    if (!number)
      continue;
    struct card_gift *gift = &gifts->all[gifts->count];
    *gift = (struct card_gift){.low = low, .key = new_key()};
    card_lock(&number->lock.word);
    gift->server = number->is_used && !number->is_directory ? number->server : NULL;
    int result = gift->server ? flick_file_share(&number->file, gift->key, &gift->number) : -1;
    // The session stays as long as what is shared.
    if (!result)
      __card_hold_server(gift->server);
    card_unlock(&number->lock.word);
    if (result)
      return -1;
    gifts->count++;
  }
  return 0;
}

int __card_give_files(struct card_gifts *gifts, const struct __posix_spawn_file_actions *actions,
                      bool is_done[MOST_ACTIONS]) {
  struct plan plan = {0};
  int done = 0;
  gifts->count = 0;
  for (int low = 0; low < MOST_FILES; low++)
    plan.at[low] = __card_number_of(low);
  for (uint32_t n = 0; actions && n < actions->count && done >= 0; n++) {
    done = follow(&plan, &actions->all[n].action, actions->all[n].path);
    is_done[n] = done > 0;
  }
  if (done >= 0)
    done = share(gifts, &plan);
  int error = errno;
  // The new program has them alone.
  while (plan.opened_count)
    close(plan.opened[--plan.opened_count]);
  if (done >= 0)
    return 0;
  __card_take_back(gifts);
  return error;
}

static void end(const struct card_gift *gift) {
  struct flick_file file;
  // Who has adopted it has used the key up.
  if (!flick_file_adopt(&gift->server->files, &file, gift->number, gift->key))
    flick_file_close(&file);
  __card_release_server(gift->server);
}

void __card_take_back(struct card_gifts *gifts) {
  while (gifts->count)
    end(&gifts->all[--gifts->count]);
}

void __card_keep_gifts(struct card_gifts *gifts, pid_t process) {
  card_lock(&kept.lock.word);
  for (unsigned n = 0; n < MOST_KEPT && gifts->count; n++) {
    if (kept.all[n].process)
      continue;
    kept.all[n].process = process;
    kept.all[n].gift = gifts->all[--gifts->count];
  }
  card_unlock(&kept.lock.word);
  while (gifts->count)
    __card_release_server(gifts->all[--gifts->count].server);
}

void __card_end_gifts(pid_t process) {
  for (unsigned n = 0; n < MOST_KEPT; n++) {
    struct card_gift gift;
    card_lock(&kept.lock.word);
    bool is_its = kept.all[n].process == process;
    if (is_its) {
      gift = kept.all[n].gift;
      kept.all[n].process = 0;
    }
    card_unlock(&kept.lock.word);
    if (is_its)
      end(&gift);
  }
}

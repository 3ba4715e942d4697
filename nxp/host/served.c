/* Numbers of files that a thread of the library serves: one end of a pair of sockets. */
#include "host_card.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_done = PTHREAD_COND_INITIALIZER;
static struct served *all;
/* In a child of fork: those of the parent. */
static struct served *of_parent;

/* Sockets are told apart by their numbers of a file. 0: it is no socket. */
static uint64_t file_of(int number) {
  struct stat about;
  return fstat(number, &about) || !S_ISSOCK(about.st_mode) ? 0 : about.st_ino;
}

/* A child has the numbers of the program, as it has other files. Their other ends are the parent's
   alone, so that their end is seen. */
static void before_fork(void) { pthread_mutex_lock(&lock); }
static void in_parent(void) { pthread_mutex_unlock(&lock); }

static void in_child(void) {
  while (all) {
    struct served *served = all;
    all = served->next;
    if (served->is_done)
      continue;
    close(served->end);
    served->next = of_parent;
    of_parent = served;
  }
  pthread_mutex_init(&lock, NULL);
  pthread_cond_init(&is_done, NULL);
}

void forget_parent(void) {
  pthread_mutex_lock(&lock);
  struct served *served = of_parent;
  of_parent = NULL;
  pthread_mutex_unlock(&lock);
  for (; served; served = served->next)
    served->forget(served->argument);
}

static void begin(void) { pthread_atfork(before_fork, in_parent, in_child); }

static void take_out(struct served *served) {
  struct served **at = &all;
  while (*at && *at != served)
    at = &(*at)->next;
  if (*at)
    *at = served->next;
}

/* Those that were closed without a look at their errors. */
static void forget_closed(void) {
  for (struct served **at = &all; *at;) {
    struct served *served = *at;
    if (served->is_done && !served->is_awaited && file_of(served->number) != served->file) {
      *at = served->next;
      free(served);
    } else {
      at = &served->next;
    }
  }
}

int make_ends(struct served *served, const char *path, int flags) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
    return why(errno, "%s: %s", path, strerror(errno));
  /* What the program does not do with the number is an error there. */
  int how = flags & O_ACCMODE;
  if (how == O_RDONLY)
    shutdown(ends[0], SHUT_WR);
  if (how == O_WRONLY)
    shutdown(ends[0], SHUT_RD);
  if (!(flags & O_CLOEXEC))
    fcntl(ends[0], F_SETFD, 0);
  if (flags & O_NONBLOCK)
    fcntl(ends[0], F_SETFL, O_RDWR | O_NONBLOCK);
  *served = (struct served){
      .number = ends[0], .end = ends[1], .file = file_of(ends[0]), .reads = how == O_RDONLY};
  return ends[0];
}

int start_serving(struct served *served, void *(*serve)(void *), void (*forget)(void *),
                  void *argument) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, begin);
  pthread_mutex_lock(&lock);
  forget_closed();
  served->forget = forget;
  served->argument = argument;
  served->next = all;
  all = served;
  pthread_mutex_unlock(&lock);
  /* Signals are for the program's own threads. */
  sigset_t none, before;
  pthread_t thread;
  sigfillset(&none);
  pthread_sigmask(SIG_SETMASK, &none, &before);
  int error = pthread_create(&thread, NULL, serve, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!error) {
    pthread_detach(thread);
    return 0;
  }
  pthread_mutex_lock(&lock);
  take_out(served);
  pthread_mutex_unlock(&lock);
  close(served->end);
  close(served->number);
  return why(error, "no thread for a file of the card: %s", strerror(error));
}

void end_serving(struct served *served, int error) {
  if (error)
    snprintf(served->why, sizeof served->why, "%s", flick_error());
  pthread_mutex_lock(&lock);
  served->error = error;
  served->is_done = true;
  close(served->end);
  pthread_cond_broadcast(&is_done);
  pthread_mutex_unlock(&lock);
}

PUBLIC int flick_close(int number) {
  uint64_t file = file_of(number);
  pthread_mutex_lock(&lock);
  struct served *served = all;
  while (served && (!file || served->file != file))
    served = served->next;
  if (!served) {
    pthread_mutex_unlock(&lock);
    return close(number);
  }
  /* Nothing was written that could be lost, and its thread may wait for a writer. */
  if (served->reads && !served->is_done) {
    shutdown(number, SHUT_RDWR);
    int result = close(number);
    pthread_mutex_unlock(&lock);
    return result;
  }
  /* Other copies of the number would keep it open. */
  served->is_awaited = true;
  shutdown(number, SHUT_RDWR);
  close(number);
  while (!served->is_done)
    pthread_cond_wait(&is_done, &lock);
  int error = served->error;
  take_out(served);
  pthread_mutex_unlock(&lock);
  if (error)
    why(error, "%s", served->why);
  free(served);
  return error ? -1 : 0;
}

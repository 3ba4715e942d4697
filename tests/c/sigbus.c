// An access beyond the end of a mapped file in NxP code is SIGBUS with its address; the handler
// extends the file and returns.
// OUT: 120 0
// OUT: 120 1
// SKIP-VALGRIND: valgrind 3.19 changes the address
#define _GNU_SOURCE
#include <flick.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int fd;
static char *map;
static volatile sig_atomic_t right;

static void handler(int signal, siginfo_t *info, void *context) {
  (void)context;
  right = signal == SIGBUS && (char *)info->si_addr == map + 5000;
  if (ftruncate(fd, 8192))
    _exit(1);
}
FLICK_NXP static int poke(char *p) {
  *(volatile char *)p = 'x';
  return *p;
}

int main(void) {
  FILE *f = tmpfile();
  fd = fileno(f);
  if (ftruncate(fd, 4096))
    return 1;
  map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  sigaction(SIGBUS, &a, NULL);
  printf("%d %d\n", poke(map + 100), right);
  int c = poke(map + 5000);
  printf("%d %d\n", c, right);
}

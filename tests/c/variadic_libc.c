// Variadic functions of the C library that are no printf: open, fcntl, ioctl, prctl, syscall,
// mremap, the scanf family, asprintf, execl; called by NxP code by name and through a pointer.
// OUT: opened 640 8
// OUT: cloexec 1, appends 1, copy 1
// OUT: waiting 8
// OUT: name flick-test
// OUT: written 3, process 1
// OUT: grown 1 42
// OUT: scanned 3: 12 0.75 word
// OUT: scanned 2: 255 x
// OUT: made [12 of 3.50] 12
// OUT: lock 1
// OUT: exec: one two
#define _GNU_SOURCE
#include <fcntl.h>
#include <flick.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

FLICK_NXP static int files(void) {
  umask(0);
  int fd = open("made.txt", O_CREAT | O_RDWR | O_TRUNC, 0640);
  struct stat s;
  if (fd < 0 || write(fd, "8 bytes.", 8) != 8 || fstat(fd, &s))
    return -1;
  printf("opened %o %ld\n", s.st_mode & 0777, (long)s.st_size);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_APPEND);
  int copy = fcntl(fd, F_DUPFD, 50);
  printf("cloexec %d, appends %d, copy %d\n", fcntl(fd, F_GETFD) == FD_CLOEXEC,
         (fcntl(fd, F_GETFL) & O_APPEND) != 0, copy >= 50);
  return copy;
}

FLICK_NXP static void devices(int (*control)(int, unsigned long, ...)) {
  int ends[2], waiting = -1;
  if (pipe(ends) || write(ends[1], "12345678", 8) != 8)
    return;
  control(ends[0], FIONREAD, &waiting);
  printf("waiting %d\n", waiting);
  char name[16] = "";
  prctl(PR_SET_NAME, "flick-test", 0, 0, 0);
  prctl(PR_GET_NAME, name, 0, 0, 0);
  printf("name %s\n", name);
  long n = syscall(SYS_write, ends[1], "abc", 3L);
  printf("written %ld, process %d\n", n, syscall(SYS_getpid) == getpid());
}

FLICK_NXP static void memory(void) {
  long page = sysconf(_SC_PAGESIZE);
  int *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return;
  *p = 42;
  int *q = mremap(p, page, 4 * page, MREMAP_MAYMOVE);
  printf("grown %d %d\n", q != MAP_FAILED, *q);
  munmap(q, 4 * page);
}

FLICK_NXP static void texts(int (*scan)(const char *, const char *, ...)) {
  int i;
  double d;
  char word[8];
  int n = sscanf("12 0.75 word", "%d %lf %7s", &i, &d, word);
  printf("scanned %d: %d %g %s\n", n, i, d, word);
  unsigned char small;
  char c;
  n = scan("ff:x", "%hhx:%c", &small, &c);
  printf("scanned %d: %d %c\n", n, small, c);
  char *made = NULL;
  n = asprintf(&made, "[%d of %.2f]", 12, 3.5);
  printf("made %s %d\n", made, n);
  free(made);
}

FLICK_NXP static void locks(int fd) {
  struct flock region = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 4};
  int set = fcntl(fd, F_SETLK, &region);
  region.l_type = F_RDLCK;
  printf("lock %d\n", set == 0 && fcntl(fd, F_GETLK, &region) == 0 && region.l_type == F_UNLCK);
}

FLICK_NXP static void program(void) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    execl("/bin/echo", "echo", "exec:", "one", "two", (char *)NULL);
    _exit(1);
  }
  waitpid(child, NULL, 0);
}

int main(void) {
  int fd = files();
  devices(ioctl);
  memory();
  texts(sscanf);
  locks(fd);
  program();
}
